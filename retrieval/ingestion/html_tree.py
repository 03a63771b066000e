"""HTML as a tree, as browsers see it: what its author left out is there, what is hidden is not."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from retrieval.ingestion.errors import ExtractionError

# Browsers stop there too; the parser's time grows with the square of the depth.
MOST_LEVELS = 512
# Elements that have no end, or whose end the next of their kind is: they do not nest.
VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
}  # fmt: skip
UNNESTED = VOID | {
    "html", "head", "body", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot",
    "option", "rt", "rp",
}  # fmt: skip
# Elements within a line: without them it stays one.
INLINE = {"a", "b", "code", "em", "font", "i", "q", "s", "small", "span", "strong", "u"}
SKIPPED = {
    "script", "style", "noscript", "template", "head", "iframe", "noembed", "noframes", "rt", "rp",
    "title", "desc", "metadata", "datalist", "video", "audio", "canvas", "annotation",
    "annotation-xml",
}  # fmt: skip
# Possessive: what never ends must not be tried in every combination.
TAG = re.compile(r"<(/?)([a-zA-Z][\w:-]*+)[^<>]*+>")
CLOSED = re.compile(r"<([a-zA-Z][\w:-]*+)([^<>]*)/>")
ENTITIES = re.compile(
    r"\A\s*+(?:<\?xml[^>]*+>\s*+)?<!DOCTYPE[^>\[]*+\[[^\]]*+\]\s*+>", re.IGNORECASE
)
DISPLAY = re.compile(r"(?:^|[;\s])(display|visibility)\s*:\s*([\w-]+)", re.IGNORECASE)
TINY = re.compile(r"(?:^|[;\s])font-size\s*:\s*[01](?:\.\d+)?(?:px|pt)?\s*(?:;|!|$)", re.IGNORECASE)
# Rules of a page's own style sheets that are looked at; fewer where there are many elements.
MOST_RULES = 100
MOST_MATCHES = 1_000_000


def parse(page: str, *, xml: bool = False) -> LexborHTMLParser:
    """Return the tree of a page; one of `xml` may close elements at once. Raises ExtractionError.

    Elements deeper than browsers let them be are read as if they stood beside each other.
    """
    try:
        return LexborHTMLParser(_flattened(_opened(page) if xml else page))
    except SelectolaxError as error:
        raise ExtractionError("corrupt") from error


def walk(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each node of the body that is to be read, before its children and again after them."""
    hidden = _hidden(tree)
    root = tree.body
    node = root.child if root is not None else None
    depth = 0
    while node is not None:
        read = not (node.is_element_node and _is_skipped(node, hidden))
        if read:
            yield node, True
        if read and (child := node.child) is not None:
            node, depth = child, depth + 1
            continue
        if read:
            yield node, False
        while node is not None and node.next is None and depth:
            node, depth = node.parent, depth - 1
            if node is not None:
                yield node, False
        node = node.next if node is not None else None


def _opened(page: str) -> str:
    """Return an XML page as HTML has it: `<p/>` is an element, CDATA is text."""
    first, *others = ENTITIES.sub("<!DOCTYPE html>", page).split("<![CDATA[")
    pieces = [first]
    for other in others:
        content, _, rest = other.partition("]]>")
        pieces += [html.escape(content), rest]
    return CLOSED.sub(
        lambda tag: tag[0] if tag[1].lower() in VOID else f"<{tag[1]}{tag[2]}></{tag[1]}>",
        "".join(pieces),
    )


def _flattened(page: str) -> str:
    """Return the page without the tags of elements that are nested too deep."""
    opened: list[str] = []
    counts: Counter[str] = Counter()

    def kept(tag: re.Match[str]) -> str:
        name = tag[2].lower()
        if name in UNNESTED:
            return tag[0]
        if not tag[1]:
            opened.append(name)
            counts[name] += 1
        elif not counts[name]:
            return tag[0]
        level = len(opened)
        while tag[1]:
            last = opened.pop()
            counts[last] -= 1
            level = len(opened) + 1
            if last == name:
                break
        return tag[0] if level <= MOST_LEVELS else "" if name in INLINE else "<br>"

    return TAG.sub(kept, page)


def _is_skipped(node: LexborNode, hidden: set[int]) -> bool:
    attributes = node.attributes
    style = attributes.get("style") or ""
    return (
        node.tag in SKIPPED
        or "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or (node.tag == "dialog" and "open" not in attributes)
        or node.mem_id in hidden
        or bool(style and _hides(style))
    )


def _hides(style: str) -> bool | None:
    """Whether declarations hide what they are for, None if they do not say."""
    said = [value.lower() in {"none", "hidden", "collapse"} for _, value in DISPLAY.findall(style)]
    if any(said) or TINY.search(style):
        return True
    return False if said else None


def _hidden(tree: LexborHTMLParser) -> set[int]:
    """Return the ids of elements that the page's own style sheets hide."""
    hidden: set[int] = set()
    sheets = tree.css("style")
    left = min(MOST_RULES, MOST_MATCHES // len(tree.css("*"))) if sheets else 0
    for sheet in sheets:
        for selector, style in _rules(sheet.text()):
            hides = _hides(style)
            if hides is None or left <= 0:
                continue
            left -= 1
            try:
                found = {node.mem_id for node in tree.css(selector)}
            except SelectolaxError:
                continue
            hidden = hidden | found if hides else hidden - found
    return hidden


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield selector and declarations of the rules that hold for every device."""
    depth = 0
    selector = ""
    first, *others = sheet.split("/*")
    said = first + "".join(other.partition("*/")[2] for other in others)
    for piece in re.split(r"([{}])", said):
        if piece == "{":
            depth += 1
        elif piece == "}":
            depth = max(0, depth - 1)
        elif depth == 0:
            selector = piece.rpartition(";")[2].strip()
        elif depth == 1 and selector and not selector.startswith("@"):
            yield selector, piece
