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
            if not name.endswith(".js") or not line.startswith(COMMENT):
                return str(convert(match))
            # What begins in a comment may run on to the end of the next statement.
            comment, newline, rest = match[0].partition("\n")
            return comment + newline + match.re.sub(outside_comments, rest)

        return outside_comments
