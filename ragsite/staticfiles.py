"""Static files under names that change with their content, ES modules' imports included."""

from servestatic.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """ServeStatic's storage, rewriting `import` paths inside JavaScript modules too."""

    support_js_module_import_aggregation = True
