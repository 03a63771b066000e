"""The text of a PDF's pages, and the tables on them."""

from retrieval.ingestion import pdf_pages
from retrieval.ingestion.pdf_pages import TABLE
from retrieval.ingestion.reading import read
from tests.documents import lines, pdf, ruled

ROWS = [["Region", "Q1", "Q2"], ["North", "10", "20"], ["South", "", "40"]]
MARKDOWN = "| Region | Q1 | Q2 |\n| --- | --- | --- |\n| North | 10 | 20 |\n| South |  | 40 |"


def test_a_ruled_table_is_a_table() -> None:
    """It stands where it is on the page, and its words nowhere else."""
    page = f"{lines(['Before the table.'], top=770)}\n{ruled(ROWS)}\n{lines(['After.'], top=500)}"
    text = read(pdf([page]), "a.pdf")["text"]
    assert text == f"Before the table.\n\n{MARKDOWN}\n\nAfter."


def test_cells_without_a_rule_between_are_one() -> None:
    wide = ruled(ROWS, top=680) + "\n72 680 m 372 680 l S 72 700 m 372 700 l S"
    wide += "\n72 680 m 72 700 l S 372 680 m 372 700 l S BT /F1 10 Tf 200 686 Td (Sales) Tj ET"
    (page,) = pdf_pages.read(pdf([wide]))
    assert page.tables[0].startswith("| Sales |  |  |\n")


def test_a_box_around_a_text_is_no_table() -> None:
    box = "60 600 400 200 re S\n" + lines(["A boxed text", "of two lines."])
    (page,) = pdf_pages.read(pdf([box]))
    assert page.tables == []
    assert page.text.split() == ["A", "boxed", "text", "of", "two", "lines."]


def test_rows_that_no_rules_divide_stay_lines() -> None:
    """Columns of many lines side by side would lose what belongs together."""
    names = lines(["Parts", "Labour", "Paint", "Tax", "Total"], left=80, top=690)
    costs = lines(["10", "20", "30", "40", "100"], left=280, top=690)
    frame = "".join(f"{x} 500 m {x} 740 l S " for x in (72, 272, 472))
    frame += "".join(f"72 {y} m 472 {y} l S " for y in (500, 710, 740))
    heads = lines(["Name"], left=80, top=720) + lines(["Cost"], left=280, top=720)
    (page,) = pdf_pages.read(pdf([f"{frame}\n{heads}\n{names}\n{costs}"]))
    assert page.tables == []


def test_rotated_pages_are_read() -> None:
    pages = [lines([f"Turned by {degrees} degrees."]) for degrees in (0, 90, 180, 270)]
    extracted = read(pdf(pages, (0, 90, 180, 270)), "a.pdf")
    assert extracted["text"].split("\n\n") == [
        f"Turned by {degrees} degrees." for degrees in (0, 90, 180, 270)
    ]
    assert len(extracted["page_starts"]) == 4


def test_tables_at_the_edges_of_pages_are_no_running_heads() -> None:
    pages = [ruled([["Name", "Cost"], [f"Part {n}", f"{n}"]]) for n in range(5)]
    text = read(pdf(pages), "a.pdf")["text"]
    assert all(f"| Part {n} | {n} |" in text for n in range(5))
    assert TABLE not in text


def test_a_drawing_of_very_many_lines_is_no_table() -> None:
    """It takes no time to see that."""
    drawing = " ".join(f"{n % 500} 0 m {n % 500} 800 l S" for n in range(30_000))
    (page,) = pdf_pages.read(pdf([f"{drawing} {lines(['A map.'])}"]))
    assert page.text.strip() == "A map."


def test_a_page_becomes_a_picture_of_limited_size() -> None:
    """However large the page is said to be."""
    content = pdf([lines(["Hello"])]).replace(b"0 0 595 842", b"0 0 9e9 9e9")
    picture = pdf_pages.picture(content, 0, dpi=300, pixels=1_000_000)
    assert picture.startswith(b"P5 ")
    assert len(picture) < 1_100_000


def test_fields_that_were_filled_in_and_notes_are_read() -> None:
    """They are no part of a page's text stream; empty fields say nothing."""
    field = b"<</Type/Annot/Subtype/Widget/FT/Tx/Rect[9 9 99 99]/T(%s)/V(%s)>>"
    note = b"<</Type/Annot/Subtype/Text/Rect[9 9 99 99]/Contents(Check this.)>>"
    extra = [field % (b"Name", b"Ann"), field % (b"City", b""), note]
    content = pdf([lines(["A form."])], extra=extra)
    content = content.replace(b"/Type/Catalog", b"/Type/Catalog/AcroForm<</Fields[4 0 R 5 0 R]>>")
    content = content.replace(b"/Type/Page/", b"/Type/Page/Annots[4 0 R 5 0 R 6 0 R]/")
    (page,) = pdf_pages.read(content)
    assert page.text.splitlines() == ["A form.", "Name: Ann", "Comment: Check this."]
