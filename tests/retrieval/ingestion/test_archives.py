"""A zip becomes many documents; what is hostile or useless in it is said, file by file."""

import io
import stat
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from pytest_django import Settings

from retrieval.ingestion.archive_names import names_of
from retrieval.ingestion.archives import Taken, add_file
from retrieval.models import Collection, Document, DocumentVersion

pytestmark = pytest.mark.django_db


def packed(
    *members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return content.getvalue()


@pytest.fixture
def add(collection: Collection) -> Callable[..., dict[str, Taken]]:
    """Add a file; return what became of each file, by its path, without the archive's name."""

    def add(content: bytes, name: str = "a.zip", folder: str = "") -> dict[str, Taken]:
        taken = add_file(collection, name, ContentFile(content, name), folder=folder)
        return {each.path.removeprefix(f"{name}/"): each for each in taken}

    return add


def codes(taken: dict[str, Taken]) -> dict[str, str]:
    return {path: each.error.code if each.error else "" for path, each in taken.items()}


def content_of(version: DocumentVersion) -> bytes:
    with version.file.open() as file:
        return file.read()


def names() -> set[str]:
    return set(Document.objects.values_list("name", flat=True))


Add = Callable[..., dict[str, Taken]]


def test_each_file_is_a_document_in_its_folder(add: Add) -> None:
    taken = add(packed(("a.txt", b"one"), ("in/b.txt", b"two"), ("in/", b"")), folder="all")
    assert set(taken) == {"all/a.zip/a.txt", "all/a.zip/in/b.txt"}
    assert names() == {"all/a.txt", "all/in/b.txt"}
    upload = taken["all/a.zip/in/b.txt"].upload
    assert upload is not None
    assert content_of(upload.version) == b"two"


def test_plain_file_is_itself(add: Add) -> None:
    assert set(add(b"text", "a.txt")) == {"a.txt"}
    assert names() == {"a.txt"}


@pytest.mark.parametrize("name", ["report.docx", "report.zip", "report"])
def test_zip_that_is_a_document_is_one(add: Add, name: str) -> None:
    add(packed(("[Content_Types].xml", b"<Types/>"), ("word/document.xml", b"<w/>")), name)
    assert names() == {name}


def test_package_of_another_program_is_not_unpacked(add: Add) -> None:
    add(packed(("Index/Slide.iwa", b"x"), ("preview.jpg", b"x")), "talk.key")
    assert names() == {"talk.key"}


def test_names_that_lead_out_are_refused(add: Add) -> None:
    taken = add(
        packed(
            ("../../out.txt", b"x"),
            ("/etc/abs.txt", b"x"),
            ("C:\\abs.txt", b"x"),
            ("in\\ok.txt", b"x"),
        )
    )
    assert sorted(codes(taken).values()) == ["", "bad-name", "bad-name", "bad-name"]
    assert names() == {"in/ok.txt"}


def test_link_is_refused(add: Add) -> None:
    link = zipfile.ZipInfo("link.txt")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert codes(add(packed((link, b"/etc/passwd")))) == {"link.txt": "unsupported"}
    assert not names()


def test_encrypted_file_is_refused_and_others_are_taken(add: Add) -> None:
    content = bytearray(packed(("a.txt", b"one"), ("b.txt", b"two")))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert codes(add(bytes(content))) == {"a.txt": "encrypted", "b.txt": ""}


def test_bomb_is_refused_by_its_ratio(add: Add) -> None:
    content = packed(("bomb.txt", bytes(33 * 2**20)), ("ok.txt", b"fine"))
    assert codes(add(content)) == {"bomb.txt": "too-large", "ok.txt": ""}


def test_file_that_says_it_is_smaller_than_it_is_is_damaged(add: Add) -> None:
    """No more is unpacked than is said; so a lie cannot get around the limits."""
    content = bytearray(packed(("a.txt", b"x" * 100_000)))
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 10)
    assert codes(add(bytes(content))) == {"a.txt": "corrupt"}
    assert not names()


def test_total_size_is_limited(add: Add, settings: Settings) -> None:
    settings.ARCHIVE_MAX_BYTES = 100
    content = packed(("a.txt", b"a" * 60), ("b.txt", b"b" * 60), ("c.txt", b"c" * 30))
    assert codes(add(content)) == {"a.txt": "", "b.txt": "too-large", "c.txt": ""}


def test_size_of_a_file_is_limited(add: Add, settings: Settings) -> None:
    settings.UPLOAD_MAX_BYTES = 500
    content = packed(("a.txt", b"a" * 501), ("b.txt", b"b"))
    assert codes(add(content)) == {"a.txt": "too-large", "b.txt": ""}


def test_number_of_files_is_limited(add: Add, settings: Settings) -> None:
    settings.ARCHIVE_MAX_FILES = 2
    taken = add(packed(("a", b""), ("b", b""), ("c", b"")))
    assert codes(taken) == {"a.zip": "too-many"}
    assert not names()


def test_endless_directory_is_not_read(add: Add, settings: Settings) -> None:
    """The directory alone could fill the memory."""
    settings.ARCHIVE_MAX_FILES = 10
    content = packed(*((f"{number:0>1000}", b"") for number in range(1200)))
    tracemalloc.start()
    taken = add(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert codes(taken) == {"a.zip": "too-many"}
    assert peak < 2**20


def test_archive_in_an_archive_is_refused(add: Add) -> None:
    inner = packed(("page.html", b"<html>"))
    assert codes(add(packed(("in.zip", inner), ("a.txt", b"a")))) == {
        "in.zip": "unsupported", "a.txt": "",
    }  # fmt: skip


def test_office_file_in_an_archive_is_taken(add: Add) -> None:
    inner = packed(("[Content_Types].xml", b"<Types/>"))
    assert codes(add(packed(("in.docx", inner)))) == {"in.docx": ""}


def test_archive_that_contains_itself_ends(add: Add, data: Path) -> None:
    taken = add((data / "droste.zip").read_bytes())
    assert codes(taken) == {"droste.jpg": "", "droste.zip": "unsupported"}


def test_second_file_of_a_name_is_refused(add: Add) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = packed(("a.txt", b"one"), ("a.txt", b"two"))
    taken = list(codes(add(content)).items())
    assert taken == [("a.txt", "duplicate")]
    assert content_of(Document.objects.get().versions.get()) == b"one"


def test_what_systems_add_is_passed_over(add: Add) -> None:
    add(
        packed(
            ("__MACOSX/._a.txt", b"x"), (".DS_Store", b"x"), ("Thumbs.db", b"x"), ("a.txt", b"a")
        )
    )
    assert names() == {"a.txt"}


def test_damaged_file_does_not_keep_others_out(add: Add) -> None:
    content = bytearray(
        packed(("a.txt", b"first"), ("b.txt", b"second"), method=zipfile.ZIP_STORED)
    )
    content[content.index(b"first")] ^= 0xFF
    assert codes(add(bytes(content))) == {"a.txt": "corrupt", "b.txt": ""}
    assert names() == {"b.txt"}


def test_damaged_archive_is_said(add: Add) -> None:
    content = packed(("a.txt", b"first"))
    assert codes(add(content[: len(content) // 2])) == {"a.zip": "corrupt"}


def test_empty_archive_is_said(add: Add) -> None:
    assert codes(add(packed())) == {"a.zip": "empty"}


def test_packing_that_does_not_stream_is_refused(add: Add) -> None:
    content = packed(("a.txt", b"first"), method=zipfile.ZIP_LZMA)
    assert codes(add(content)) == {"a.txt": "unsupported"}


def test_files_are_streamed(add: Add) -> None:
    """A large file in an archive is never in memory as a whole."""
    content = packed(("a.bin", bytes(range(256)) * 2**15), method=zipfile.ZIP_STORED)
    tracemalloc.start()
    add(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**21


def test_kinds_are_limited_within_archives_too(add: Add, settings: Settings) -> None:
    settings.UPLOAD_TYPES = ["txt", "zip"]
    content = packed(("a.txt", b"a"), ("b.pdf", b"%PDF-1.4"), ("c.txt", b"%PDF-1.4"))
    assert codes(add(content)) == {
        "a.txt": "", "b.pdf": "type-not-allowed", "c.txt": "type-not-allowed",
    }  # fmt: skip


def test_archives_may_be_refused(add: Add, settings: Settings) -> None:
    settings.UPLOAD_TYPES = ["txt"]
    assert codes(add(packed(("a.txt", b"a")))) == {"a.zip": "type-not-allowed"}


def infos(*raw: bytes, flag: int = 0, extra: bytes = b"") -> list[zipfile.ZipInfo]:
    found = []
    for name in raw:
        info = zipfile.ZipInfo(name.decode("utf-8" if flag else "cp437"))
        info.flag_bits, info.extra = flag, extra
        found.append(info)
    return found


@pytest.mark.parametrize(
    ("encoding", "meant"),
    [
        ("cp437", ["Übung 1.pdf", "Größe.txt", "Año nuevo.pdf"]),
        ("cp850", ["Ação São João.txt", "Århus Øl.txt"]),
        ("cp852", ["Zażółć gęślą jaźń.txt"]),
        ("cp1252", ["Résumé – été.txt"]),
        ("cp866", ["Документы/Отчёт за год.pdf", "ПРОТОКОЛ.doc"]),
        ("cp1251", ["Отчёт за год.pdf", "Договор.docx"]),
        ("cp932", ["新しいフォルダー/見積書.xlsx", "テスト.docx"]),
        ("gbk", ["新建文件夹/报告.txt", "图片1.txt"]),
        ("big5", ["會議記錄.pdf", "合約.docx"]),
        ("cp949", ["회의록.pdf", "보고서.docx"]),
        ("utf-8", ["Übung.pdf", "会议.txt", "📄 notes.txt"]),
    ],
)
def test_names_are_decoded_as_they_were_meant(encoding: str, meant: list[str]) -> None:
    assert names_of(infos(*(name.encode(encoding) for name in meant))) == meant


def test_names_that_say_their_encoding() -> None:
    flagged = infos("報告.txt".encode(), flag=0x800)
    raw = b"\x95\xf1.txt"
    field = struct.pack("<BI", 1, zlib.crc32(raw)) + "報.txt".encode()
    extended = infos(raw, extra=struct.pack("<HH", 0x7075, len(field)) + field)
    assert names_of(flagged + extended) == ["報告.txt", "報.txt"]


def test_field_of_another_name_is_not_believed() -> None:
    field = struct.pack("<BI", 1, 0) + b"other.txt"
    info = infos(b"a.txt", extra=struct.pack("<HH", 0x7075, len(field)) + field)
    assert names_of(info) == ["a.txt"]
