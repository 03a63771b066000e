"""Static files under names that change with their content, ES modules' imports included."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from servestatic.storage import CompressedManifestStaticFilesStorage

COMMENT = ("//", "/*", "*")


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """ServeStatic's storage, rewriting `import` paths inside JavaScript modules too."""

    support_js_module_import_aggregation = True

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        """Leave comments alone: a type's `import("…")` may name no file, or make a circle."""
        convert: Callable[..., Any] = super().url_converter(name, hashed_files, template)

        def outside_comments(match: re.Match[str]) -> str:
            line = match.string[: match.start()].rpartition("\n")[2].lstrip()
            if name.endswith(".js") and line.startswith(COMMENT):
                return match[0]
            return str(convert(match))

        return outside_comments
