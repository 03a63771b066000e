"""What a file is saved as: on any system, and without a header of its own."""

import pytest
from django.utils.http import content_disposition_header

from retrieval.file_response import saved_as


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("con.txt", "_con.txt"),
        ("LPT1", "_LPT1"),
        ("aux.tar.gz", "_aux.tar.gz"),
        ("console.txt", "console.txt"),
        ('a<b>:"c|?*.txt', "a_b___c___.txt"),
        ("report. ", "report"),
        ("...", "document"),
        ("\u202efdp.exe", "fdp.exe"),
        ("Ünïcødé – 日本語.txt", "Ünïcødé – 日本語.txt"),
    ],
)
def test_names_that_a_system_does_not_take_are_changed(name: str, saved: str) -> None:
    assert saved_as(name) == saved


@pytest.mark.parametrize("name", ['a"; filename=b.exe', "a\r\nSet-Cookie: x=1", "a\\b", "日本\n語"])
def test_a_name_is_no_header(name: str) -> None:
    header = content_disposition_header(as_attachment=True, filename=saved_as(name)) or ""
    assert header.isprintable()
    assert header.count('"') in (0, 2)
    assert header.isascii()
