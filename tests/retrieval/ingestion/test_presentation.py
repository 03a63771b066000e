"""PowerPoint files, slide by slide."""

from retrieval.ingestion.reading import read
from tests.documents import pptx, shape


def test_each_slide_is_a_page_with_its_title_first() -> None:
    """Slides without anything keep their numbers."""
    extracted = read(
        pptx([shape("Body") + shape("Title", "title"), "", shape("Last", "ctrTitle")]), "a.pptx"
    )
    assert extracted["text"] == "## Title\n\nBody\n\n## Last"
    assert extracted["page_starts"] == [0, 16, 16]


def test_notes_are_read_and_slide_numbers_are_not() -> None:
    slide = shape("Plan", "title") + shape("7", "sldNum") + shape("one\ntwo", "body")
    text = read(pptx([slide], {1: "Say hello."}), "a.pptx")["text"]
    assert text == "## Plan\n- one\n- two\n\nNotes: Say hello."


def test_running_text_stands_once() -> None:
    slides = [shape(f"Slide {n}", "title") + shape("Company 2026", "ftr") for n in (1, 2)]
    assert read(pptx(slides), "a.pptx")["text"].count("Company 2026") == 1


def test_tables_and_groups_are_read() -> None:
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    table = "<p:graphicFrame><a:tbl>{}</a:tbl></p:graphicFrame>".format(
        "".join(f"<a:tr>{cell.format(a)}{cell.format(b)}</a:tr>" for a, b in ("AB", "12"))
    )
    text = read(pptx([f"{table}<p:grpSp>{shape('Grouped')}</p:grpSp>"]), "a.pptx")["text"]
    assert text == "| A | B |\n| --- | --- |\n| 1 | 2 |\n\nGrouped"
