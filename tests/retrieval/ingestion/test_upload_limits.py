"""What a request may bring: limits that hold while it streams in."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.core.handlers.wsgi import WSGIRequest
from django.test import RequestFactory
from pytest_django import Settings

from retrieval.ingestion.upload_limits import (
    LimitedUploadHandler,
    RequestTooLargeError,
    described,
)

Post = Callable[..., tuple[WSGIRequest, LimitedUploadHandler]]


@pytest.fixture(autouse=True)
def temporary(settings: Settings, tmp_path: Path) -> Path:
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    settings.UPLOAD_MAX_BYTES = 200_000
    settings.UPLOAD_MAX_REQUEST_BYTES = 400_000
    return tmp_path


@pytest.fixture
def post() -> Post:
    """Make a request with files of these names and sizes or contents."""

    def post(**files: int | bytes) -> tuple[WSGIRequest, LimitedUploadHandler]:
        parts = [
            SimpleUploadedFile(
                name.replace("_", "."), content if isinstance(content, bytes) else b"x" * content
            )
            for name, content in files.items()
        ]
        request = RequestFactory().post("/", {"files": parts})
        handler = LimitedUploadHandler(request)
        request.upload_handlers = [handler]
        return request, handler

    return post


def names(request: WSGIRequest) -> list[str | None]:
    files = request.FILES.getlist("files")
    found = [file.name for file in files]
    for file in files:
        file.close()
    return found


def test_file_above_the_limit_is_dropped_alone(post: Post, temporary: Path) -> None:
    request, handler = post(a_txt=200_000, b_txt=200_001 - 100_000, c_txt=50_000)
    assert names(request) == ["a.txt", "b.txt", "c.txt"]
    request, handler = post(a_txt=200_001, b_txt=10)
    assert names(request) == ["b.txt"]
    assert [name for name, _ in handler.refused] == ["a.txt"]
    assert "larger than 195.3 KB" in handler.refused[0][1]
    assert not list(temporary.iterdir())


def test_rest_of_a_dropped_file_is_not_written(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(
        TemporaryFileUploadHandler,
        "receive_data_chunk",
        lambda self, data, start: written.append(len(data)),
    )
    assert names(post(a_txt=390_000)[0]) == []
    assert 0 < sum(written) <= 200_000


def test_request_that_says_it_is_too_large_is_not_read(post: Post) -> None:
    request, _ = post(a_txt=150_000, b_txt=150_000, c_txt=150_000)

    class Unread(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            pytest.fail("read")

    request._stream = Unread()
    with pytest.raises(RequestTooLargeError, match=r"390\.6 KB together"):
        _ = request.FILES


def test_request_that_lies_about_its_length_is_cut_off(post: Post, temporary: Path) -> None:
    request, handler = post(a_txt=150_000, b_txt=150_000, c_txt=150_000)
    monkey = handler.handle_raw_input
    handler.handle_raw_input = lambda *args, **_: monkey(args[0], args[1], 1, "")  # type: ignore[method-assign]
    with pytest.raises(RequestTooLargeError):
        _ = request.FILES
    assert not list(temporary.iterdir())


def test_number_of_files_is_limited(post: Post, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    request, _ = post(a_txt=1, b_txt=1, c_txt=1)
    with pytest.raises(TooManyFilesSent):
        _ = request.FILES


def test_kinds_that_are_not_taken_are_dropped_at_their_first_bytes(
    post: Post, settings: Settings
) -> None:
    settings.UPLOAD_TYPES = ["pdf", "md"]
    request, handler = post(
        a_pdf=b"%PDF-1.7", b_txt=b"%PDF-1.7", c_pdf=b"PK\x03\x04", d_md=b"# Title", e_exe=b"MZ\0"
    )
    assert names(request) == ["a.pdf", "b.txt", "d.md"]
    assert handler.refused == [
        ("c.pdf", "Files of this kind are not taken here, only PDF, MD."),
        ("e.exe", "Files of this kind are not taken here, only PDF, MD."),
    ]


def test_limits_are_said(settings: Settings, admin_user: User) -> None:
    settings.UPLOAD_TYPES = ["pdf", "docx"]
    found = described(admin_user)
    assert found["accept"] == ".pdf,.docx"
    assert found["text"] == (
        "At most 100 files at once, of 195.3 KB each and 390.6 KB together; only PDF, DOCX."
    )
