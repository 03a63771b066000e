"""Answers that cite documents, and the panel that shows where."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pypdfium2
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from playwright.sync_api import Locator, Page, expect

from chat.models import Citation, Run
from retrieval.models import Chunk, DocumentVersion
from tests import conversations

FILES = Path(__file__).parents[1] / "data"
FOUR_PAGES = FILES / "four-pages.pdf"
SCAN = FILES / "scan-ocr-test.pdf"
LONG = "".join(f"Line {number} of the report says little.\n\n" for number in range(900))
# A page of a PDF is drawn by two threads that share the machine with much else.
DRAWN_MS = 20_000


def text_of_pages(content: bytes) -> list[str]:
    """Return the text of each page, as an extraction reads it."""
    document = pypdfium2.PdfDocument(content)
    pages = [page.get_textpage().get_text_range() for page in document]
    document.close()
    return [text.replace("\r\n", "\n") + "\n\n" for text in pages]


def pdf(content: bytes, pages: list[str] | None = None) -> DocumentVersion:
    """Make a document of a PDF that is ready, with a chunk for each page."""
    pages = pages or text_of_pages(content)
    version = conversations.document("".join(pages), title="Four pages")
    starts = [0, *accumulate(len(text) for text in pages)]
    version.file.save("file.pdf", ContentFile(content), save=False)
    version.media_type, version.size, version.page_starts = (
        "application/pdf",
        len(content),
        starts[:-1],
    )
    version.save()
    version.chunks.all().delete()
    for ordinal, text in enumerate(pages):
        Chunk.objects.create(
            version=version,
            ordinal=ordinal,
            text=text,
            page_start=ordinal + 1,
            page_end=ordinal + 1,
            char_start=starts[ordinal],
            char_end=starts[ordinal + 1],
        )
    return version


def answered(user: User, version: DocumentVersion, *cited: tuple[int, str]) -> Run:
    """Make an answer that cites sentences, each of a page of the document."""
    answer = " ".join(f"So it is [{number}]." for number in range(1, len(cited) + 1))
    run = conversations.answered(user, answer="So it is.", version=version)
    run.answer.text = answer
    run.answer.save()
    chunks = list(version.chunks.order_by("ordinal"))
    for ordinal, (page, quote) in enumerate(cited):
        start = answer.index(f"[{ordinal + 1}]")
        Citation.objects.create(
            message=run.answer,
            ordinal=ordinal,
            index=ordinal + 1,
            chunk=chunks[page - 1],
            version=version,
            title="Four pages",
            page=page,
            quote=quote,
            span_start=start,
            span_end=start + 3,
        )
    return run


def opened(page: Page, run: Run, number: int = 0) -> Locator:
    """Open a citation of an answer; return the panel."""
    page.goto(f"/c/{run.conversation_id}/")
    page.locator(".cite").nth(number).click()
    return page.locator("#panel")


def shown(panel: Locator, number: int) -> Locator:
    """Wait until a page of the PDF is drawn; return its view."""
    view = panel.locator(f".page-view[data-state=shown][data-page='{number}']")
    expect(view).to_be_visible(timeout=DRAWN_MS)
    return view
