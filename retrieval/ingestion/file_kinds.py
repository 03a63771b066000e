"""What kind a file seems to be from its first bytes and its name: enough to refuse it early.

What it really is, reading finds out, from all of it (`media_types.py`).
"""

from __future__ import annotations

from pathlib import PurePath

from django.conf import settings

# Bytes that are looked at.
HEAD_BYTES = 1024
ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Kinds that are zips, and that are compound files, told apart by their names.
ZIP_KINDS = {
    "docx", "docm", "dotx", "xlsx", "xlsm", "xltx", "pptx", "pptm", "ppsx", "odt", "ods", "odp",
    "epub", "pages", "numbers", "key", "jar", "kmz", "apk", "xmind",
}  # fmt: skip
OLE_KINDS = {"doc", "xls", "ppt", "msg", "docx", "xlsx", "pptx"}
BEGINNINGS = {
    b"{\\rtf": "rtf",
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF8": "gif",
    b"II*\0": "tif",
    b"MM\0*": "tif",
}
SAME = {"jpeg": "jpg", "htm": "html", "xhtml": "html", "markdown": "md", "tiff": "tif"}


def kind_of(head: bytes, name: str) -> str:
    """Return the kind of a file, as a suffix without its dot; `bin` if it seems to be no text."""
    suffix = PurePath(name).suffix.lower().lstrip(".")
    suffix = SAME.get(suffix, suffix)
    if b"%PDF-" in head[:HEAD_BYTES]:
        return "pdf"
    if head.startswith((ZIP, EMPTY_ZIP)):
        return suffix if suffix in ZIP_KINDS else "zip"
    if head.startswith(OLE):
        return suffix if suffix in OLE_KINDS else "doc"
    for beginning, kind in BEGINNINGS.items():
        if head.startswith(beginning):
            return kind
    if suffix in ZIP_KINDS | OLE_KINDS | {"pdf", "zip", *BEGINNINGS.values()}:
        # The name says what the bytes do not.
        return "bin" if b"\0" in head else "txt"
    return suffix or "txt"


def is_allowed(head: bytes, name: str) -> bool:
    """Whether UPLOAD_TYPES lets a file of this kind in; everything that is read, if it is empty."""
    allowed = {SAME.get(kind, kind) for kind in settings.UPLOAD_TYPES}
    return not allowed or kind_of(head, name) in allowed
