"""Reading a file's bytes into text; runs in the child process only."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypedDict
from xml.etree.ElementTree import Element

from retrieval.ingestion import (
    epub,
    mail,
    opendocument,
    parser,
    pdf,
    pdf_pages,
    presentation,
    web_page,
    wordprocessing,
)
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.media_types import (
    DOCX,
    EPUB,
    FLAT,
    MAIL_TYPE,
    OPENDOCUMENT,
    OUTLOOK,
    PDF,
    PPTX,
    detect,
)
from retrieval.ingestion.ocr import Recogniser, Recognition, holds_pictures
from retrieval.ingestion.packages import parse
from retrieval.ingestion.plain_text import clean
from retrieval.ingestion.structure import Text
from retrieval.text.language import normalise

# Formats where a page can be cited: a Word file has pages only once it is printed.
PAGED = (PDF, "presentation", "powerpoint", "spreadsheet", "ms-excel", "image/")
PLAIN = {"text/plain", "text/markdown", "text/vtt"}
# A mail in a mail in a mail is read; what is attached to that one is not.
DEPTH = 3
LETTER = re.compile(r"\w")
XML = re.compile(r"\ufeff?\s*<\?xml")
# Characters of a text that tell its language better than the file does: many say "en" of any.
TELLING_CHARACTERS = 300


class Extracted(TypedDict):
    """What a file says: `page_starts` are offsets in `text`, in code points."""

    text: str
    page_starts: list[int]
    media_type: str
    language: str
    title: str
    metadata: dict[str, Any]


def read(
    data: bytes,
    name: str,
    max_characters: int = 10**9,
    recognition: Recognition | None = None,
) -> Extracted:
    """Return the text of a file. Raises ExtractionError."""
    return _Reader(Recogniser(recognition or Recognition()), max_characters).read(data, name)


class _Reader:
    """Reads a file, and the files in it, within limits that all of them share."""

    def __init__(self, recogniser: Recogniser, max_characters: int) -> None:
        self.recogniser = recogniser
        self.max_characters = max_characters
        self.depth = 0

    def read(self, data: bytes, name: str) -> Extracted:
        media_type, decoded = detect(data, name)
        text = Text(any(word in media_type for word in PAGED), self.max_characters)
        try:
            metadata = self.fill(text, data, media_type, decoded)
        except RecursionError as error:
            # Elements within elements, deeper than anyone writes them.
            raise ExtractionError("corrupt") from error
        content = str(text)
        if not LETTER.search(content):
            raise ExtractionError("empty")
        title = " ".join(str(metadata.get("title") or metadata.get("subject") or "").split())
        return Extracted(
            text=content,
            page_starts=text.page_starts,
            media_type=media_type,
            language=_language(content, str(metadata.get("language") or "")),
            title=clean(title)[:500],
            metadata=_said(metadata),
        )

    def fill(self, text: Text, data: bytes, media_type: str, decoded: str | None) -> dict[str, Any]:
        """Add what a file holds to `text`, and return what it says of itself."""
        if decoded is not None:
            return self.fill_from_text(text, decoded, media_type, data)
        readers: dict[str, Callable[[bytes, Text], dict[str, Any]]] = {
            PDF: self.fill_from_pdf,
            "image/": self.fill_from_picture,
            OUTLOOK: lambda data, text: mail.read_outlook(data, text, self.attachment),
            OPENDOCUMENT: opendocument.read,
            DOCX: wordprocessing.read,
            PPTX: presentation.read,
            EPUB: epub.read,
        }
        for beginning, reader in readers.items():
            if media_type.startswith(beginning):
                return reader(data, text)
        return parser.read(data, media_type, text)

    def fill_from_text(
        self, text: Text, decoded: str, media_type: str, data: bytes
    ) -> dict[str, Any]:
        if media_type == MAIL_TYPE:
            return mail.read(data, text, self.attachment)
        if media_type.endswith(FLAT):
            return opendocument.read_flat(_parsed(decoded), text)
        if media_type == "text/html":
            return web_page.read(decoded, text, xml=bool(XML.match(decoded)))
        if media_type not in PLAIN:
            try:
                return parser.read(decoded.encode(), media_type, text)
            except ExtractionError as error:
                # JSON that breaks off, say: it can be read all the same, but not by its structure.
                if error.code != "corrupt" or str(text):
                    raise
        text.add(clean(decoded).strip(), None)
        heading = re.search(r"^# +(.+)$", decoded, re.MULTILINE)
        return {"title": heading[1].strip()} if media_type == "text/markdown" and heading else {}

    def fill_from_pdf(self, data: bytes, text: Text) -> dict[str, Any]:
        result = parser.parse(data, PDF)
        metadata: dict[str, Any] = dict(result.metadata or {})
        found = pdf_pages.read(data)
        pages = [page.text for page in found]
        said = ["\n".join([page.text, *page.tables]) for page in found]
        blank = [number for number, page in enumerate(said) if pdf.is_blank(page)]
        textless = pdf.is_textless(said)
        recognised = False
        if blank and self.recogniser.usable and self.recogniser.wanted(data):
            recognised = self.recognise(pages, blank, data, all_of_it=textless)
        if textless and not recognised:
            reason = self.recogniser.reason if holds_pictures(data) else ""
            raise ExtractionError("no-text", reason)
        nodes = result.document["nodes"] if result.document else []
        pdf.render(pages, nodes, text, [page.tables for page in found])
        text.begin_page(len(pages))
        return metadata

    def recognise(
        self, pages: list[str], numbers: list[int], data: bytes, *, all_of_it: bool
    ) -> bool:
        """Put recognised text in place of pages without any; return whether there was some.

        Unless that is `all_of_it`, what the limits do not allow is left out.
        """
        try:
            for number in numbers:
                pages[number] = self.recogniser.page(data, number)
        except ExtractionError as error:
            if all_of_it or error.code not in {"too-large", "timeout"}:
                raise
        return any(LETTER.search(pages[number]) for number in numbers)

    def fill_from_picture(self, data: bytes, text: Text) -> dict[str, Any]:
        if not self.recogniser.usable:
            raise ExtractionError(
                "unsupported", "Pictures are read only where text recognition (OCR) is installed."
            )
        pages = self.recogniser.picture(data).removesuffix("\f").split("\f")
        if all(map(pdf.is_blank, pages)):
            raise ExtractionError("no-text", self.recogniser.reason)
        pdf.render(pages, [], text)
        text.begin_page(len(pages))
        return {}

    def attachment(self, data: bytes, name: str) -> str:
        """Return the text of a file within a file. Raises ExtractionError."""
        if self.depth >= DEPTH:
            raise ExtractionError("unsupported", "It is in too many mails within mails.")
        self.depth += 1
        try:
            return self.read(data, name)["text"]
        finally:
            self.depth -= 1


def _language(content: str, said: str) -> str:
    """Return the language of a text; if it is short, what the file says of it counts for more."""
    found = parser.language(content)
    said = said if normalise(said) else ""
    return found or said if len(content) >= TELLING_CHARACTERS else said or found


def _parsed(decoded: str) -> Element:
    # What it says of its encoding is no longer so.
    return parse(re.sub(r"^\s*<\?xml[^>]*\?>", "", decoded.lstrip("\ufeff"), count=1))


def _said(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return what the file says of itself, by the parser's names."""
    said = {
        name: metadata.get(name) for name in ("authors", "created_at", "modified_at", "keywords")
    }
    return {
        name: [clean(str(each))[:500] for each in value]
        if isinstance(value, list)
        else clean(str(value))[:500]
        for name, value in said.items()
        if value
    }
