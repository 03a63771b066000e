"""Errors of reading and fetching files: a code for programs, a sentence for who uploaded."""

from __future__ import annotations

MESSAGES = {
    "encrypted": "This file is protected by a password. Remove the password and upload it again.",
    "corrupt": "This file is damaged or incomplete, so it cannot be read. "
    "Open it in the program it was made with, save it anew and upload that.",
    "empty": "This file is empty.",
    "unsupported": "Files of this kind cannot be read. "
    "PDF, Office, HTML, Markdown, text, CSV, EPUB and mail files can.",
    "no-text": "This file holds no text, only pictures (a scan, say). "
    "Upload a version with a text layer.",
    "too-large": "This file is too large, or unpacks to more than a document may hold.",
    "timeout": "Reading this file took too long.",
}


class ExtractionError(Exception):
    """A file cannot be read, now or later; `code` is a key of MESSAGES, `message` is for people."""

    def __init__(self, code: str, message: str = "") -> None:
        self.code = code
        self.message = message or MESSAGES[code]
        super().__init__(self.message)


class StalledError(Exception):
    """Nothing was heard of an ingestion for too long; another try may get further."""


class FetchError(Exception):
    """A file cannot be fetched from its address; `retryable` says whether that may pass.

    `code` is for programs, `message` for people; `retry_after` is the wait in seconds that the
    server asked for.
    """

    def __init__(
        self, code: str, message: str, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after
        super().__init__(message)
