"""The parts of an office file: a zip of XML, or one flat XML, parsed without document types."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from retrieval.ingestion.errors import ExtractionError

# The text of a document of 5,000 pages is about 50 MB of XML.
PART_BYTES = 128 * 2**20


class _Builder(ET.TreeBuilder):
    """Refuses document types: with them come entities that expand, or that name other files."""

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise ExtractionError("corrupt")


class Package:
    """A zip of parts that refer to each other; a part that is not there reads as nothing."""

    def __init__(self, data: bytes) -> None:
        """Open the zip. Raises ExtractionError."""
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError) as error:
            raise ExtractionError("corrupt") from error

    def has(self, name: str) -> bool:
        """Whether there is such a part."""
        return name in self._archive.NameToInfo

    def part(self, name: str) -> bytes | None:
        """Return a part's bytes, None if there is no such part. Raises ExtractionError."""
        if not self.has(name):
            return None
        try:
            with self._archive.open(name) as part:
                content = part.read(PART_BYTES + 1)
        except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError, zlib.error) as error:
            raise ExtractionError("corrupt") from error
        if len(content) > PART_BYTES:
            raise ExtractionError("too-large")
        return content

    def xml(self, name: str) -> ET.Element | None:
        """Return the root of a part, None if there is no such part. Raises ExtractionError."""
        content = self.part(name)
        return parse(content) if content is not None else None

    def related(self, part: str, kind: str) -> Iterator[tuple[str, str]]:
        """Yield id and name of the parts that `part` refers to as `kind`; `""` is the package."""
        folder, name = posixpath.split(part)
        relations = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        for relation in relations if relations is not None else ():
            external = relation.get("TargetMode") == "External"
            if relation.get("Type", "").rpartition("/")[2] == kind and not external:
                target = posixpath.join(f"/{folder}", relation.get("Target", ""))
                yield relation.get("Id", ""), posixpath.normpath(target).lstrip("/")

    def one(self, part: str, kind: str) -> ET.Element | None:
        """Return the root of the first part that `part` refers to as `kind`."""
        for _, name in self.related(part, kind):
            return self.xml(name)
        return None


def parse(content: bytes | str) -> ET.Element:
    """Return the root of an XML text, tags and attributes without namespaces.

    The id of another part, which stands beside an element's own, becomes `rid`. Raises
    ExtractionError.
    """
    parser = ET.XMLParser(target=_Builder())  # noqa: S314 - it refuses document types
    try:
        root: ET.Element = ET.fromstring(content, parser)  # noqa: S314
    except (ET.ParseError, ValueError, LookupError) as error:
        raise ExtractionError("corrupt") from error
    local: dict[str, str] = {}
    for element in root.iter():
        element.tag = local.setdefault(element.tag, element.tag.rpartition("}")[2])
        for name in [name for name in element.attrib if name[0] == "{"]:
            bare = "rid" if name.endswith("/relationships}id") else name.rpartition("}")[2]
            element.attrib.setdefault(bare, element.attrib.pop(name))
    return root


def properties(root: ET.Element | None) -> dict[str, Any]:
    """Return what an office file says of itself, by the names that other parsers use."""
    said: dict[str, Any] = {}
    for element in root.iter() if root is not None else ():
        value = (element.text or "").strip()
        match element.tag:
            case "title" if value:
                said.setdefault("title", value)
            case "creator" | "initial-creator" if value:
                said.setdefault("authors", [value])
            case "created" | "creation-date" if value:
                said["created_at"] = value
            case "modified" | "date" if value:
                said["modified_at"] = value
            case "keywords" if value:
                said["keywords"] = [word.strip() for word in value.replace(";", ",").split(",")]
            case "keyword" if value:
                said.setdefault("keywords", []).append(value)
    return said
