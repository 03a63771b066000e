"""E-books: their chapters in order, under their titles."""

from collections.abc import Mapping
from posixpath import normpath

import pytest

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.reading import read
from tests.documents import zipped

PAGE = "application/xhtml+xml"
METADATA = (
    "<dc:title>The Book</dc:title><dc:creator>Ann</dc:creator><dc:creator>Ben</dc:creator>"
    "<dc:language>fr</dc:language><dc:date>1999-05-01</dc:date><dc:subject>sea</dc:subject>"
)
NCX = '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "x.dtd">'


def epub(
    parts: Mapping[str, str], items: str = "", *, spine: str = "", folder: str = "OPS/p"
) -> bytes:
    """Return a book of these pages, in order unless the spine has another."""
    pages = {f"i{n}": name for n, name in enumerate(parts) if name.endswith("html")}
    manifest = items + "".join(
        f'<item id="{id_}" href="{name}" media-type="{PAGE}"/>' for id_, name in pages.items()
        if f'"{name}"' not in items
    )  # fmt: skip
    order = spine or "".join(f'<itemref idref="{id_}"/>' for id_ in pages)
    return zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml":
        f'<container xmlns="urn:c"><rootfiles><rootfile full-path="{folder}/c.opf"/></rootfiles>'
        "</container>",
        f"{folder}/c.opf": '<?xml version="1.0"?><package xmlns="urn:o" xmlns:dc="urn:d"><metadata>'
        f'{METADATA}</metadata><manifest>{manifest}</manifest><spine toc="ncx">{order}</spine>'
        "</package>",
    } | {name if name.startswith("META") else normpath(f"{folder}/{name}"): part
         for name, part in parts.items()})  # fmt: skip


def test_chapters_stand_in_the_order_of_the_spine_each_once() -> None:
    pages = {"a.xhtml": "<h1>A</h1><p>one", "b.xhtml": "<h1>B</h1><p>two"}
    spine = '<itemref idref="i1"/><itemref idref="i0"/><itemref idref="i1"/>'
    assert read(epub(pages, spine=spine), "a.epub")["text"] == "# B\n\ntwo\n\n# A\n\none"


def test_references_are_decoded_and_resolved() -> None:
    items = (
        f'<item id="x" href="../t/a%20b%C3%BC.xhtml#top" media-type="{PAGE}"/>'
        f'<item id="y" href="gone.xhtml" media-type="{PAGE}"/>'
    )
    spine = '<itemref idref="y"/><itemref idref="x"/>'
    book = epub({"../t/a bü.xhtml": "<p>hello"}, items, spine=spine)
    assert read(book, "a.epub")["text"] == "hello"


def test_a_chapter_without_heading_has_the_title_of_the_navigation() -> None:
    nav = (
        '<nav epub:type="toc"><ol><li><a href="a.xhtml">Part one</a><ol><li>'
        '<a href="b.xhtml#x">Second</a></li></ol></li><li><a href="c.xhtml">Third</a></ol></nav>'
    )
    items = f'<item id="nav" href="nav.xhtml" properties="nav" media-type="{PAGE}"/>'
    pages = {"a.xhtml": "<p>Part one</p><p>a", "b.xhtml": "<p>b", "c.xhtml": "<h2>Own</h2>c",
             "nav.xhtml": nav}  # fmt: skip
    text = read(epub(pages, items), "a.epub")["text"]
    assert text == "# Part one\n\na\n\n## Second\n\nb\n\n## Own\n\nc"


def test_older_books_have_their_titles_in_another_list() -> None:
    points = (
        '<navPoint><navLabel><text>First</text></navLabel><content src="a.xhtml"/><navPoint>'
        '<navLabel><text>Inner</text></navLabel><content src="b.xhtml"/></navPoint></navPoint>'
    )
    items = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    pages = {"a.xhtml": "<p>a", "b.xhtml": "<p>b",
             "toc.ncx": f"{NCX}<ncx xmlns='urn:n'><navMap>{points}</navMap></ncx>"}  # fmt: skip
    assert read(epub(pages, items), "a.epub")["text"] == "# First\n\na\n\n## Inner\n\nb"
    pages["toc.ncx"] = "<ncx"
    assert read(epub(pages, items), "a.epub")["text"] == "a\n\nb"


def test_a_book_says_what_it_is() -> None:
    extracted = read(epub({"a.xhtml": "<p>Salut."}), "a.epub")
    assert (extracted["title"], extracted["language"]) == ("The Book", "fr")
    assert extracted["metadata"] == {
        "authors": ["Ann", "Ben"], "created_at": "1999-05-01", "keywords": ["sea"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "readable"),
    [
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", False),
        ("http://www.idpf.org/2008/embedding", True),
    ],
)
def test_a_book_protected_against_copying_is_encrypted(algorithm: str, readable: bool) -> None:
    """One with only its fonts obscured is not."""
    data = f'<EncryptedData><EncryptionMethod Algorithm="{algorithm}"/></EncryptedData>'
    parts = {"a.xhtml": "<p>hello", "META-INF/encryption.xml": f"<encryption>{data}</encryption>"}
    if readable:
        assert read(epub(parts), "a.epub")["text"] == "hello"
        return
    with pytest.raises(ExtractionError) as caught:
        read(epub(parts), "a.epub")
    assert caught.value.code == "encrypted"


def test_a_book_without_pages_is_corrupt() -> None:
    with pytest.raises(ExtractionError) as caught:
        read(epub({}), "a.epub")
    assert caught.value.code == "corrupt"
