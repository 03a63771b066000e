"""E-books (EPUB 2 and 3): the pages of their spine in order, as chapters."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.ingestion import html_tree, web_page
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.html_tables import Block
from retrieval.ingestion.packages import Package, parse
from retrieval.ingestion.plain_text import decode
from retrieval.ingestion.structure import Text

PAGES = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
# What hides only fonts: the text can be read.
FONTS = {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
# Tables of contents and old packages name their type; what would declare entities is refused.
DOCTYPE = re.compile(r"<!DOCTYPE[^<>\[]*+>", re.IGNORECASE)
XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
ENCODING = re.compile(rb"""^\s*<\?xml[^>]*\sencoding=["']([\w.-]{1,40})["']""")


def read(data: bytes, text: Text) -> dict[str, Any]:
    """Add a book's chapters to `text`, and return what it says of itself.

    Raises ExtractionError.
    """
    book = _Book(Package(data))
    found = False
    for name in book.spine():
        content = book.text(name)
        if content is None:
            continue
        found = True
        tree = html_tree.parse(content, xml=True)
        blocks = _headed(web_page.blocks(tree), *book.chapters.get(name, ("", 0)))
        text.add_blocks((block.rendered() for block in blocks), None)
    if not found:
        raise ExtractionError("corrupt")
    return book.properties()


def _headed(blocks: list[Block], title: str, level: int) -> list[Block]:
    """Return a chapter under its title, unless it has a heading of its own."""
    if not title or not blocks or any(block.level for block in blocks):
        return blocks
    if blocks[0].text.casefold() == title.casefold():
        blocks = blocks[1:]
    return [Block(title, level), *blocks]


class _Book:
    """What a book's package says: its files, their order, and the chapters that begin in them."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.refuse_encrypted()
        container = self.xml("META-INF/container.xml")
        root = container.find(".//rootfile") if container is not None else None
        self.name = root.get("full-path", "") if root is not None else ""
        opf = self.xml(self.name)
        if opf is None:
            raise ExtractionError("corrupt")
        self.opf = opf
        self.items = {item.get("id", ""): item for item in opf.iterfind("manifest/item")}
        self.chapters: dict[str, tuple[str, int]] = {}
        self.learn_chapters()

    def refuse_encrypted(self) -> None:
        encryption = self.xml("META-INF/encryption.xml")
        for data in encryption.iter("EncryptedData") if encryption is not None else ():
            method = data.find("EncryptionMethod")
            if method is None or method.get("Algorithm") not in FONTS:
                raise ExtractionError("encrypted", "This book is protected against copying (DRM).")

    def text(self, name: str) -> str | None:
        """Return a part as text, None if there is no such part."""
        content = self.package.part(name)
        if content is None:
            return None
        declared = ENCODING.match(content)
        try:
            return content.decode(declared[1].decode() if declared else "utf-8-sig")
        except (LookupError, UnicodeDecodeError):
            return decode(content) or content.decode("utf-8", "replace")

    def xml(self, name: str) -> Element | None:
        content = self.text(name)
        if content is None:
            return None
        content = XML_DECLARATION.sub("", content.lstrip("\ufeff"), count=1)
        return parse(DOCTYPE.sub("", content, count=1).strip())

    def resolved(self, reference: str, base: str) -> str:
        """Return the name of the part that `base` refers to."""
        path = reference.partition("#")[0]
        folder = posixpath.dirname(base)
        names = [
            posixpath.normpath(posixpath.join("/", folder, each)).lstrip("/")
            for each in (unquote(path), path)
        ]
        return next((name for name in names if self.package.has(name)), names[0])

    def spine(self) -> Iterator[str]:
        """Yield the names of the pages in order, each once, without the list of chapters."""
        seen: set[str] = set()
        for reference in self.opf.iterfind("spine/itemref"):
            item = self.page(reference.get("idref", ""))
            if item is not None and "nav" not in item.get("properties", "").split():
                name = self.resolved(item.get("href", ""), self.name)
                if name not in seen:
                    seen.add(name)
                    yield name

    def page(self, id_: str) -> Element | None:
        """Return an item, or what stands in for one that is no page."""
        tried: set[str] = set()
        while id_ in self.items and id_ not in tried:
            tried.add(id_)
            item = self.items[id_]
            if item.get("media-type", "").lower() in PAGES:
                return item
            id_ = item.get("fallback", "")
        return None

    def learn_chapters(self) -> None:
        """Note the titles of chapters, from the list of EPUB 3 or that of EPUB 2."""
        for item in self.items.values():
            name = self.resolved(item.get("href", ""), self.name)
            if "nav" in item.get("properties", "").split():
                content = self.text(name) or ""
                self.learn_navigation(html_tree.parse(content, xml=True), name)
        spine = self.opf.find("spine")
        contents = self.items.get(spine.get("toc", "")) if spine is not None else None
        if contents is not None and not self.chapters:
            self.learn_contents(self.resolved(contents.get("href", ""), self.name))

    def learn_contents(self, name: str) -> None:
        try:
            root = self.xml(name)
        except ExtractionError:
            # The book can be read without it.
            return
        points = root.find("navMap") if root is not None else None
        for point, level in _points(points, 1) if points is not None else ():
            label, target = point.find("navLabel/text"), point.find("content")
            if label is not None and target is not None:
                self.learn(target.get("src", ""), name, label.text or "", level)

    def learn_navigation(self, tree: LexborHTMLParser, name: str) -> None:
        lists = [nav for nav in tree.css("nav") if nav.attributes.get("epub:type") == "toc"]
        for nav in lists or tree.css("nav")[:1]:
            for link in nav.css("a[href]"):
                self.learn(link.attributes.get("href") or "", name, link.text(), _depth(link))

    def learn(self, reference: str, base: str, title: str, level: int) -> None:
        words = " ".join(title.split())
        self.chapters.setdefault(self.resolved(reference, base), (words, level))

    def properties(self) -> dict[str, Any]:
        """Return what the book says of itself, by the names that other readers use."""
        said: dict[str, Any] = {}
        for element in self.opf.iterfind("metadata//*"):
            value = " ".join((element.text or "").split())
            match element.tag:
                case "title" | "language" if value:
                    said.setdefault(element.tag, value)
                case "creator" if value:
                    said.setdefault("authors", []).append(value)
                case "date" if value:
                    said.setdefault("created_at", value)
                case "subject" if value:
                    said.setdefault("keywords", []).append(value)
                case "meta" if element.get("property") == "dcterms:modified" and value:
                    said["modified_at"] = value
        return said


def _points(parent: Element, level: int) -> Iterator[tuple[Element, int]]:
    for point in parent.iterfind("navPoint"):
        yield point, level
        yield from _points(point, level + 1)


def _depth(link: LexborNode) -> int:
    """Return how many lists a link stands in."""
    depth = 0
    node = link.parent
    while node is not None and node.tag != "nav" and depth < 6:
        depth += node.tag == "ol"
        node = node.parent
    return max(1, depth)
