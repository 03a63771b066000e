"""Word files, read whole."""

from retrieval.ingestion.reading import read
from tests.documents import docx, paragraph


def text_of(body: str, **others: str) -> str:
    return read(docx(body, **others), "a.docx")["text"]


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(cells)}</w:tr>"


def test_white_space_between_words_stays() -> None:
    """Tabs, line breaks and hyphens are characters, though not written as such."""
    body = "<w:p><w:r><w:t>Name:</w:t><w:tab/><w:t>Ann</w:t><w:br/><w:t>e</w:t></w:r></w:p>"
    assert text_of(body) == "Name:\tAnn\ne"


def test_marks_of_other_languages_are_kept() -> None:
    """Angle brackets, stars and underscores are text."""
    assert text_of(paragraph("a &lt;tag&gt; 2*3*4 snake_case")) == "a <tag> 2*3*4 snake_case"


def test_headings_are_known_by_their_outline_level_in_any_language() -> None:
    styles = (
        '<w:style w:styleId="berschrift2"><w:basedOn w:val="base"/></w:style>'
        '<w:style w:styleId="base"><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    )
    body = paragraph("Reisen", '<w:pStyle w:val="berschrift2"/>') + paragraph("Text.")
    assert text_of(body, styles=styles) == "## Reisen\n\nText."


def test_numbers_of_lists_and_headings_are_written() -> None:
    """What Word counts by itself stands in the text."""
    levels = "".join(
        f'<w:lvl w:ilvl="{n}"><w:numFmt w:val="{style}"/><w:lvlText w:val="{label}"/></w:lvl>'
        for n, style, label in ((0, "decimal", "%1."), (1, "lowerLetter", "%1.%2)"))
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    )
    marks = [f'<w:numPr><w:ilvl w:val="{n}"/><w:numId w:val="1"/></w:numPr>' for n in (0, 1)]
    body = "".join(
        paragraph(words, marks[level])
        for words, level in (("one", 0), ("two", 0), ("in", 1), ("side", 1), ("three", 0))
    )
    assert text_of(body, numbering=numbering) == "1. one\n2. two\n  2.a) in\n  2.b) side\n3. three"


def test_tables_keep_rows_and_merged_cells() -> None:
    """A cell that reaches over rows says the same in each; tables in cells stay readable."""
    inner = f"<w:tbl>{row(cell(paragraph('x')), cell(paragraph('y')))}</w:tbl>"
    table = "<w:tbl>{}</w:tbl>".format(
        row(cell(paragraph("A")), cell(paragraph("B")))
        + row(cell(paragraph("up"), '<w:vMerge w:val="restart"/>'), cell(paragraph("1|2")))
        + row(cell("<w:p/>", "<w:vMerge/>"), cell(paragraph("in") + inner))
        + row(cell(paragraph("wide"), '<w:gridSpan w:val="2"/>'))
    )
    assert text_of(table) == (
        "| A | B |\n| --- | --- |\n| up | 1\\|2 |\n| up | in x, y |\n| wide |  |"
    )


def test_a_table_of_one_column_is_a_frame() -> None:
    table = f"<w:tbl>{row(cell(paragraph('One.')))}{row(cell(paragraph('Two.')))}</w:tbl>"
    assert text_of(table) == "One.\n\nTwo."


def test_running_heads_stand_once_and_page_numbers_do_not() -> None:
    """Headers come first, footers last, each once for all pages."""
    sections = '<w:sectPr><w:headerReference r:id="header"/><w:footerReference r:id="footer"/>'
    body = paragraph("Body.") + f"{sections}</w:sectPr>" + f"{sections}</w:sectPr>"
    text = text_of(body, header=paragraph("Head"), footer=paragraph("3 / 7"))
    assert text == "Head\n\nBody."


def test_changes_are_read_as_they_were_accepted() -> None:
    body = (
        "<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>"
    )
    assert text_of(body) == "new"


def test_what_stands_in_controls_and_boxes_is_read_once() -> None:
    """Content controls, fields and text boxes hold text; a box has a fallback that repeats it."""
    box = f"<w:txbxContent>{paragraph('Box.')}</w:txbxContent>"
    body = (
        f"<w:sdt><w:sdtContent>{paragraph('Control.')}</w:sdtContent></w:sdt>"
        "<w:p><w:r><w:t>See </w:t><w:instrText>HYPERLINK</w:instrText><w:t>this</w:t>"
        f"<w:AlternateContent><w:Choice>{box}</w:Choice><w:Fallback>{box}</w:Fallback>"
        "</w:AlternateContent></w:r></w:p>"
    )
    assert text_of(body) == "Control.\n\nSee this\n\nBox."


def test_notes_and_comments_follow_their_paragraph() -> None:
    body = (
        '<w:p><w:r><w:t>Claim</w:t><w:footnoteReference w:id="2"/>'
        '<w:commentReference w:id="5"/></w:r></w:p>' + paragraph("Next.")
    )
    text = text_of(
        body,
        footnotes=f'<w:footnote w:id="2">{paragraph("Proof.")}</w:footnote>',
        comments=f'<w:comment w:id="5" w:author="Ann">{paragraph("Really?")}</w:comment>',
    )
    assert text == "Claim[^2]\n\n[^2]: Proof.\n\nComment by Ann: Really?\n\nNext."
