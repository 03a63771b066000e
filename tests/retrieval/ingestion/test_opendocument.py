"""OpenDocument files, read whole."""

from retrieval.ingestion.reading import Extracted, read
from tests.documents import odf


def read_text(body: str, **parts: str) -> str:
    return read(odf("text", body, **parts), "a.odt")["text"]


def read_sheets(body: str) -> Extracted:
    return read(odf("spreadsheet", body), "a.ods")


def test_words_in_spans_and_spaces_are_kept() -> None:
    """A paragraph may begin with a span, and has spaces that are elements."""
    body = (
        '<text:p><text:span>Lorem Ipsum</text:span> is<text:s text:c="2"/>text<text:tab/>and\n'
        "  more<text:line-break/>here</text:p>"
    )
    assert read_text(body) == "Lorem Ipsum is  text\tand more\nhere"


def test_headings_lists_and_notes() -> None:
    body = (
        '<text:h text:outline-level="2">Part</text:h>'
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item>"
        "<text:p>inner</text:p></text:list-item></text:list></text:list-item></text:list>"
        "<text:p>Claim<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>Proof.</text:p></text:note-body></text:note></text:p>"
    )
    assert read_text(body) == "## Part\n- one\n  - inner\n\nClaim[^1]\n\n[^1]: Proof."


def test_deleted_text_is_not_read() -> None:
    body = (
        "<text:tracked-changes><text:changed-region text:id='c1'><text:deletion><text:p>gone"
        "</text:p></text:deletion></text:changed-region></text:tracked-changes>"
        "<text:p>kept<text:change-start text:change-id='c1'/> gone"
        "<text:change-end text:change-id='c1'/></text:p>"
    )
    assert read_text(body) == "kept"


def test_sheets_are_pages_under_their_names() -> None:
    """Values stand as they are shown; empty cells to the edge of a sheet do not count."""
    row = (
        '<table:table-row><table:table-cell office:value="0.25"><text:p>25%</text:p>'
        "</table:table-cell><table:table-cell><text:p>x</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="16382"/></table:table-row>'
    )
    empty = (
        '<table:table-row table:number-rows-repeated="1048000">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    extracted = read_sheets(
        f'<table:table table:name="First">{row}{empty}</table:table>'
        f'<table:table table:name="Second">{row}{row}</table:table>'
    )
    text, starts = extracted["text"], extracted["page_starts"]
    assert text == (
        "## First\n\n| 25% | x |\n| --- | --- |\n\n"
        "## Second\n\n| 25% | x |\n| --- | --- |\n| 25% | x |"
    )
    assert [text[start : start + 9] for start in starts] == ["## First\n", "## Second"]


def test_slides_are_pages_with_their_notes() -> None:
    slide = (
        '<draw:page><draw:frame presentation:class="outline"><draw:text-box><text:p>Point</text:p>'
        '</draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box>'
        "<text:p>Plan</text:p></draw:text-box></draw:frame><presentation:notes>"
        '<draw:frame presentation:class="notes"><draw:text-box><text:p>Say hello.</text:p>'
        "</draw:text-box></draw:frame></presentation:notes></draw:page>"
    )
    extracted = read(odf("presentation", slide * 2), "a.odp")
    page = "## Plan\n\nPoint\n\nNotes: Say hello."
    assert extracted["text"] == f"{page}\n\n{page}"
    assert extracted["page_starts"] == [0, len(page) + 2]


def test_a_flat_document_is_one_xml() -> None:
    """It is known by what it says of itself, whatever its name."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    flat = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="{office}" '
        f'xmlns:text="{text}" office:mimetype="application/vnd.oasis.opendocument.text">'
        "<office:body><office:text><text:p>Flat.</text:p></office:text></office:body>"
        "</office:document>"
    )
    extracted = read(flat.encode("utf-16"), "a.xml")
    assert extracted["text"] == "Flat."
    assert extracted["media_type"] == "application/vnd.oasis.opendocument.text-flat-xml"
