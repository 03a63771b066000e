"""Web pages: all that they show, once and in order, and nothing that they hide."""

import time

import pytest

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.reading import read


def text(page: str) -> str:
    return read(page.encode(), "a.html")["text"]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>alpha<p>beta<p>gamma<div>delta</div>", "alpha\n\nbeta\n\ngamma\n\ndelta"),
        (
            "<p>Before</p><table><tr><td>c1<td>c2</table><p>after",
            "Before\n\n| c1 | c2 |\n| --- | --- |\n\nafter",
        ),
        ("<h2>Two\n <b>words</b></h2>x<h6>y</h6>z", "## Two words\n\nx\n\n###### y\n\nz"),
        (
            "a<address>Road 1<br>Town</address>b<hr>c<blockquote>d</blockquote>",
            "a\n\nRoad 1\nTown\n\nb\n\nc\n\nd",
        ),
        (
            ("<figure><img src=x alt='A cat'><figcaption>Fig. 1</figcaption></figure>"
            "<aside>Aside</aside><details><summary>More</summary>Detail</details>"),
            "A cat\n\nFig. 1\n\nAside\n\nMore\n\nDetail",
        ),
        ("<pre>\na\n  b\n\n\nc</pre>d", "```\na\n  b\n\n\nc\n```\n\nd"),
        (
            ("<form><label>Name <input value=Ann></label><input type=hidden value=x>"
            "<button>Yes</button><button>No</button></form>"),
            "Name Ann Yes No",
        ),
        (
            ("<p>See <a href='https://example.org/a'>the\n  page</a> or "
            "<a href='https://example.org'>https://example.org</a>."),
            "See the page or https://example.org.",
        ),
        (
            "so\u00adft ze\u200bro &amp; &lt;b&gt; &eacute;&#8364; 10<sup>3</sup>",
            "soft zero & <b> é€ 10^3",
        ),
        ("<nav><a href=a>One</a><a href=b>Two</a></nav>", "One Two"),
        ("say <q>yes</q>", "say “yes”"),
    ],
)  # fmt: skip
def test_what_a_page_shows_stands_once_and_in_order(page: str, expected: str) -> None:
    assert text(page) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<ul><li>a<ul><li>b<ol start=3><li>c<li>d</ol></ul>e<li>f</ul>",
         "- a\n  - b\n    3. c\n    4. d\n\n  e\n- f"),
        ("<ul><li><h3>Head</h3><p>more</ul>", "- Head\n\n  more"),
        ("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c"),
        ("<dl><dt>A<dd>one<dd>two<dt>B<dt>C:<dd>three<dt>D</dl>",
         "A: one\n\ntwo\n\nB, C: three\n\nD"),
    ],
)  # fmt: skip
def test_lists_keep_their_items(page: str, expected: str) -> None:
    assert text(page) == expected


@pytest.mark.parametrize(
    ("page", "rows"),
    [
        ("<tr><th>a<th>b<tr><td>x|y<td>z", ["| a | b |", "| --- | --- |", "| x\\|y | z |"]),
        (
            "<tr><th>a<th>b<tr><td>x<td><table><tr><td>1<td>2<tr><td>3<td>4</table>",
            ["| a | b |", "| --- | --- |", "| x | 1, 2; 3, 4 |"],
        ),
        (
            "<tr><th colspan=2>a<th>b<tr><td rowspan=2>r<td>1<td>2<tr><td>3<td>4",
            ["| a |  | b |", "| --- | --- | --- |", "| r | 1 | 2 |", "| r | 3 | 4 |"],
        ),
        (
            "<tr><th>a<th>b<th>c<tr><td>1<td>2<td rowspan=0>r<tr><td>3",
            ["| a | b | c |", "| --- | --- | --- |", "| 1 | 2 | r |", "| 3 |  | r |"],
        ),
    ],
)
def test_tables_keep_their_rows(page: str, rows: list[str]) -> None:
    assert text(f"<table>{page}</table>").split("\n") == rows


def test_a_table_that_only_places_parts_of_the_page_is_none() -> None:
    """Its cells hold headings, or there is one column."""
    assert text("<table><tr><td><h1>T</h1><p>x<td>y</table>") == "# T\n\nx\n\ny"
    assert text("<table><tr><td>x<table><tr><td>1<td>2</table></table>").startswith(
        "x\n\n| 1 | 2 |"
    )
    assert text("<table role=presentation><tr><td>x<td>y</table>") == "x\n\ny"


@pytest.mark.parametrize(
    "hidden",
    [
        "<template>no</template>", "<p hidden>no</p>",
        "<p style='color:red; Display : NONE'>no</p>",
        "<p style='visibility:hidden'>no</p>", "<p style='font-size:0'>no</p>",
        "<p aria-hidden=true>no<b>no</b></p>", "<script>no</script>", "<style>no</style>",
        "<noscript>no</noscript>", "<!-- no -->", "<input type=hidden value=no>",
        ("<style>@media print { p { display: none } } /* } */ .x, .y { display: none }</style>"
        "<div class=y>no</div>"),
    ],
)  # fmt: skip
def test_what_a_page_hides_is_not_text(hidden: str) -> None:
    assert text(f"<p>before</p>{hidden}<p>after</p>") == "before\n\nafter"


def test_a_later_rule_may_show_what_one_hid() -> None:
    style = "<style>.menu { display: none } .menu { display: block }</style>"
    assert text(f"{style}<p class=menu>Menu") == "Menu"


def test_a_page_says_its_title_language_authors_and_dates() -> None:
    page = (
        "<html lang=de-CH><title> Das\nBlatt </title><meta name=Author content=Ann>"
        "<meta name=author content=Ben><meta property='article:published_time' content=2024-05-01>"
        "<meta name=keywords content='a, b'><p>Kurz."
    )
    extracted = read(page.encode(), "a.html")
    assert (extracted["title"], extracted["language"]) == ("Das Blatt", "de-CH")
    assert extracted["metadata"] == {
        "authors": ["Ann", "Ben"], "created_at": "2024-05-01", "keywords": ["a", "b"],
    }  # fmt: skip


def test_a_page_of_xml_may_close_elements_at_once() -> None:
    """To HTML all that follows such a script or title would be part of it."""
    page = (
        "<?xml version='1.0'?><html><head><title/><script src='a'/></head>"
        "<body><p/><p>text <![CDATA[<c>]]></p></body></html>"
    )
    assert text(page) == "text <c>"


@pytest.mark.parametrize(
    ("page", "word"),
    [
        ("<table><tr><td>x" * 60 + "hello", "hello"),
        ("<table><tr><td>x<td>" * 60 + "hello", "hello"),
        ("<div>" * 200_000 + "hello", "hello"),
        ("<ul><li>" * 50_000 + "hello", "hello"),
        ("<div></b>" * 50_000 + "hello", "hello"),
        ("<p>hello<" + "a" * 1_000_000, "hello"),
        ("<style>" + "/*" * 200_000 + "</style>hello", "hello"),
    ],
)
def test_no_depth_takes_a_page_its_text_or_much_time(page: str, word: str) -> None:
    began = time.process_time()
    assert word in text(page)
    assert time.process_time() - began < 5


def test_cells_that_reach_far_are_too_much() -> None:
    page = "<table>" + "<tr>" + "<td colspan=1000>x" * 5 + ("<tr>" + "<td colspan=1000>x" * 5) * 700
    with pytest.raises(ExtractionError) as caught:
        text(page)
    assert caught.value.code == "too-large"
