"""Recognising text in scans."""

import subprocess
from pathlib import Path

import pytest

from retrieval.ingestion import ocr, pdf_pages
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.ocr import Recogniser, Recognition
from retrieval.ingestion.reading import Extracted, read
from tests.documents import lines, pdf, stream

needs_tesseract = pytest.mark.skipif(not ocr.installed(), reason="tesseract is not installed")
WORDS = ["The warehouse opens at nine", "and the keys hang by the door."]


def scan(*texts: list[str]) -> bytes:
    """Return a PDF whose pages are pictures of these texts."""
    pictures = [pdf_pages.picture(pdf([lines(text)]), 0, dpi=100, pixels=10**6) for text in texts]
    objects = []
    for picture in pictures:
        head, grey = picture.split(b"\n", 1)
        width, height = head.split()[1:3]
        entries = b"/Type/XObject/Subtype/Image/ColorSpace/DeviceGray/BitsPerComponent 8"
        objects.append(stream(grey, entries + b"/Width %s/Height %s" % (width, height)))
    drawn = [f"595 0 0 842 0 0 cm /X{4 + n} Do" for n in range(len(pictures))]
    return pdf(drawn, extra=objects)


def recognise(data: bytes, **settings: object) -> Extracted:
    return read(data, "a.pdf", recognition=Recognition(**({"mode": "auto"} | settings)))  # type: ignore[arg-type]


def code_of(data: bytes, **settings: object) -> tuple[str, str]:
    with pytest.raises(ExtractionError) as caught:
        recognise(data, **settings)
    return caught.value.code, caught.value.message


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Have a tesseract that reads the same in everything; return how it was called."""
    called: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        called.append(command)
        listed = b"List of available languages (3):\neng\nfra\nosd\n"
        said = "Le magasin est ouvert à neuf heures, les clés sont à côté de la porte.\f".encode()
        return subprocess.CompletedProcess(command, 0, listed if len(command) == 2 else said, b"")

    monkeypatch.setattr(ocr, "installed", lambda: True)
    monkeypatch.setattr(ocr.subprocess, "run", run)
    return called


@needs_tesseract
def test_text_of_a_scan_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages keep their numbers, those that are empty too."""
    monkeypatch.setattr(ocr, "DPI", 120)
    extracted = recognise(scan([" "], WORDS), languages=("eng",))
    assert " ".join(extracted["text"].split()) == " ".join(WORDS)
    assert extracted["page_starts"] == [0, 0]


@needs_tesseract
def test_a_picture_is_read() -> None:
    """A picture is a file of one page."""
    png = Path(__file__).parents[2] / "data" / "words.png"
    extracted = read(png.read_bytes(), "words.png", recognition=Recognition("auto", ("eng",)))
    assert "warehouse opens at nine" in extracted["text"]
    assert extracted["media_type"] == "image/png"
    assert extracted["page_starts"] == [0]


def test_only_pages_without_text_are_recognised(heard: list[list[str]]) -> None:
    """A text layer is believed."""
    scanned = scan(["x"])
    recognise(scanned)
    recognised = len(heard)
    assert recognised > 0
    extracted = recognise(pdf([lines(["Typed text."])]))
    assert extracted["text"] == "Typed text."
    assert len(heard) == recognised


def test_the_language_of_the_first_page_is_used_for_the_rest(heard: list[list[str]]) -> None:
    """One language reads better than many: the first page is read again by it."""
    recognise(scan(["x"], ["y"]))
    assert [command[-1] for command in heard] == ["--list-langs", "eng+fra", "fra", "fra"]


def test_languages_are_a_setting(heard: list[list[str]]) -> None:
    """Of those asked for, the ones that are installed."""
    recognise(scan(["x"]), languages=("deu", "eng"))
    assert heard[-1][-1] == "eng"


def test_without_tesseract_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr.shutil, "which", lambda _: None)
    code, message = code_of(scan(WORDS))
    assert code == "no-text"
    assert "OCR) is not installed" in message


def test_turned_off_it_says_so() -> None:
    code, message = code_of(scan(WORDS), mode="off")
    assert code == "no-text"
    assert "OCR) is off" in message


def test_pages_without_pictures_are_left_alone(heard: list[list[str]]) -> None:
    """Text drawn as curves is recognised only when that is asked for."""
    drawing = pdf(["100 100 m 300 300 l S"])
    assert code_of(drawing)[0] == "no-text"
    assert not heard
    assert "magasin" in recognise(drawing, mode="on")["text"]


def test_too_many_pages_are_refused(heard: list[list[str]]) -> None:
    code, message = code_of(scan(["x"], ["y"], ["z"]), max_pages=2)
    assert code == "too-large"
    assert "2 scanned pages" in message


def test_time_is_limited(heard: list[list[str]]) -> None:
    assert code_of(scan(["x"]), seconds=0)[0] == "timeout"


def test_a_tesseract_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    recogniser = Recogniser(Recognition("auto"))
    recogniser.languages = ["eng"]
    monkeypatch.setattr(ocr.subprocess, "run", run)
    with pytest.raises(ExtractionError) as caught:
        recogniser.picture(b"P5 1 1 255\n\0")
    assert caught.value.code == "timeout"


def test_pictures_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not installed, a picture is no kind of file that is read."""
    monkeypatch.setattr(ocr.shutil, "which", lambda _: None)
    with pytest.raises(ExtractionError) as caught:
        read(b"\x89PNG\r\n\x1a\n", "a.png", recognition=Recognition("auto"))
    assert caught.value.code == "unsupported"
