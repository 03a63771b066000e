"""Web pages: paragraphs, headings, lists, definitions, tables, and what their heads say."""

from __future__ import annotations

import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.ingestion import html_tree
from retrieval.ingestion.html_tables import MOST_COLUMNS, Block, Cell, Table
from retrieval.ingestion.structure import Text

# White space as HTML has it: spaces that do not break are characters.
SPACE = re.compile(r"[ \t\r\n\f]+")
SPACES = re.compile(r" {2,}")
AROUND_BREAK = re.compile(r" *\n *")
BREAKS = re.compile(r"\n{3,}")
# Where a word may be broken, and marks of byte order.
INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
LINES = {
    "address", "article", "aside", "blockquote", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "listing",
    "main", "menu", "nav", "ol", "optgroup", "p", "plaintext", "pre", "search", "section",
    "summary", "table", "td", "th", "tr", "ul", "xmp",
}  # fmt: skip
APART = {"button", "img", "input", "label", "option", "select", "textarea"}
LISTS = {"ul", "ol", "menu", "dir"}
CELLS = {"td", "th"}
PREFORMATTED = {"pre", "listing", "xmp", "plaintext"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
FENCED_CHARACTERS = 4000
DEEPEST_INDENT = 20
# Inputs whose value is seen.
SEEN = {None, "", "text", "search", "email", "tel", "url", "number", "date", "submit", "button"}
SAID = {
    "author": "authors", "dc.creator": "authors", "dcterms.creator": "authors",
    "citation_author": "authors", "article:author": "authors",
    "date": "created_at", "dc.date": "created_at", "dcterms.created": "created_at",
    "dcterms.date": "created_at", "article:published_time": "created_at",
    "citation_date": "created_at", "citation_publication_date": "created_at",
    "article:modified_time": "modified_at", "last-modified": "modified_at",
    "dcterms.modified": "modified_at", "keywords": "keywords", "og:title": "heading",
}  # fmt: skip


def read(page: str, text: Text, *, xml: bool = False) -> dict[str, Any]:
    """Add a page's blocks to `text`, and return what it says of itself. Raises ExtractionError."""
    tree = html_tree.parse(page, xml=xml)
    text.add_blocks((block.rendered() for block in blocks(tree)), None)
    return properties(tree)


def blocks(tree: LexborHTMLParser) -> list[Block]:
    """Return what a page shows, in order. Raises ExtractionError."""
    return _Reader().read(tree)


def properties(tree: LexborHTMLParser) -> dict[str, Any]:
    """Return what a page says of itself, by the names that other readers use."""
    said: dict[str, Any] = {}
    for meta in tree.css("meta"):
        attributes = meta.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
        key = SAID.get((name or "").lower())
        value = " ".join((attributes.get("content") or "").split())
        if key == "authors" and value and "://" not in value:
            said.setdefault(key, []).append(value)
        elif key == "keywords" and value:
            said.setdefault(key, []).extend(filter(None, map(str.strip, value.split(","))))
        elif key and value and key != "authors":
            said.setdefault(key, value)
    for title in tree.css("head > title")[:1]:
        said["title"] = " ".join(title.text().split())
    said["title"] = said.get("title") or said.pop("heading", "")
    for element in tree.css("html")[:1]:
        attributes = element.attributes
        said["language"] = attributes.get("lang") or attributes.get("xml:lang") or ""
    return said


class _Reader:
    """Gathers words to lines and lines to blocks, as elements begin and end."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.sinks: list[list[Block]] = [[]]
        self.tables: list[Table] = []
        # The next number of each list that is open, None for bullets; of each cell its own.
        self.lists: list[list[int | None]] = [[]]
        self.marker = ""
        self.term = ""
        self.level = 0
        self.preformatted = 0

    def read(self, tree: LexborHTMLParser) -> list[Block]:
        for node, begins in html_tree.walk(tree):
            if node.is_text_node:
                if begins:
                    self.say(node.text_content or "")
            elif node.is_element_node:
                self.begin(node) if begins else self.end(node)
        self.flush()
        self.settle()
        return self.sinks[0]

    def say(self, words: str) -> None:
        """Add words to the line."""
        self.words.append(words if self.preformatted else SPACE.sub(" ", words))

    def begin(self, node: LexborNode) -> None:
        """Take note of an element that begins."""
        tag = node.tag or ""
        if tag in LINES:
            self.flush()
            self.begin_block(node, tag)
        match tag:
            case "br":
                self.words.append("\n")
            case "img" | "input":
                self.say(f" {_shown(node)}")
            case "q":
                self.say("“")
            case "sup" if self.words and self.words[-1][-1:].isdigit():
                self.say("^" if node.text()[:1].isdigit() else "")
            case "a" | "kbd" if (before := node.prev) is not None and before.tag == tag:
                # Links beside each other are a menu: style sets them apart.
                self.say(" ")
            case _ if tag in APART:
                self.say(" ")

    def begin_block(self, node: LexborNode, tag: str) -> None:
        if tag == "table":
            self.settle()
            self.marker = ""
            role = (node.attributes.get("role") or "").lower()
            self.tables.append(Table(layout=role in {"presentation", "none"}))
        elif tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
        elif tag in CELLS and self.tables:
            self.begin_cell(node)
        elif tag == "li":
            self.begin_item(node)
        elif tag in LISTS:
            self.lists[-1].append(_number(node, "start", 1) if tag == "ol" else None)
        self.preformatted += tag in PREFORMATTED
        self.level = int(tag[1]) if tag in HEADINGS else self.level

    def end(self, node: LexborNode) -> None:
        """Take note of an element that ends."""
        tag = node.tag or ""
        if tag == "dt":
            self.end_term()
        elif tag in LINES:
            self.flush()
            self.end_block(tag)
        elif tag in APART or tag == "q":
            self.say("”" if tag == "q" else " ")

    def end_block(self, tag: str) -> None:
        if tag == "table":
            self.sinks[-1] += self.tables.pop().blocks()
        elif tag in CELLS and self.tables:
            self.settle()
            self.sinks.pop()
            self.lists.pop()
            self.marker = ""
        elif tag == "li":
            self.marker = ""
        elif tag in LISTS:
            self.lists[-1].pop()
        elif tag == "dl":
            self.settle()
        self.preformatted -= tag in PREFORMATTED
        self.level = 0 if tag in HEADINGS else self.level

    def depth(self) -> int:
        """Return how many lists are open, as far as that is shown."""
        return min(len(self.lists[-1]), DEEPEST_INDENT)

    def begin_cell(self, node: LexborNode) -> None:
        cell = Cell(
            min(_number(node, "colspan", 1), MOST_COLUMNS) or 1,
            _number(node, "rowspan", 1) or 65534,
        )
        if not self.tables[-1].rows:
            self.tables[-1].rows.append([])
        self.tables[-1].rows[-1].append(cell)
        self.sinks.append(cell.blocks)
        self.lists.append([])

    def begin_item(self, node: LexborNode) -> None:
        self.settle()
        counts = self.lists[-1]
        number = counts[-1] if counts else None
        if number is not None:
            number = _number(node, "value", number)
            counts[-1] = number + 1
        indent = "  " * (self.depth() - 1)
        self.marker = f"{indent}{'-' if number is None else f'{number}.'} "

    def end_term(self) -> None:
        """Have a term stand before its definition."""
        term = self.line().rstrip(":")
        self.term = ", ".join(filter(None, (self.term, term)))

    def line(self) -> str:
        """Return the words of the line that ends here."""
        said = INVISIBLE.sub("", "".join(self.words))
        self.words.clear()
        if self.preformatted:
            return said.strip("\r\n") if said.strip() else ""
        return BREAKS.sub("\n\n", AROUND_BREAK.sub("\n", SPACES.sub(" ", said))).strip()

    def flush(self) -> None:
        """End the line: it is a paragraph, a heading, an item, a definition or what was typed."""
        if not self.words:
            return
        line = self.line()
        if not line:
            return
        if self.preformatted:
            plain = self.marker or self.term or len(self.sinks) > 1 or "```" in line
            line = line if plain or len(line) >= FENCED_CHARACTERS else f"```\n{line}\n```"
        level = 0 if self.marker else self.level
        if level:
            self.settle()
        elif self.term:
            line, self.term = f"{self.term}: {line}", ""
        if self.marker:
            line, self.marker = f"{self.marker}{line}", ""
        elif self.lists[-1] and not self.preformatted and not level:
            line = f"{'  ' * self.depth()}{line}"
        self.sinks[-1].append(Block(line, level))

    def settle(self) -> None:
        """Have a term that no definition followed stand by itself."""
        term, self.term = self.term, ""
        if term:
            self.sinks[-1].append(Block(term))


def _shown(node: LexborNode) -> str:
    """Return what is shown of a picture that is not, or of a field."""
    attributes = node.attributes
    kind = (attributes.get("type") or "").lower()
    if node.tag == "img" or kind == "image":
        return attributes.get("alt") or ""
    return attributes.get("value") or "" if kind in SEEN else ""


def _number(node: LexborNode, name: str, otherwise: int) -> int:
    value = (node.attributes.get(name) or "").strip()
    return int(value[:6]) if value.isascii() and value.isdigit() else otherwise
