"""Mails: their headers, their text, and what is attached to them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from typing import Any

from oxmsg import Message

from retrieval.ingestion import parser, structure, web_page
from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.plain_text import decode
from retrieval.ingestion.structure import Text

SHOWN = ("Subject", "From", "To", "Cc", "Date")
MOST_ATTACHMENTS = 100
HEADING = re.compile(r"^#{1,6}(?= )", re.MULTILINE)
# Reads an attachment by its bytes and name; raises ExtractionError.
Reader = Callable[[bytes, str], str]


def read(data: bytes, text: Text, read_attachment: Reader) -> dict[str, Any]:
    """Add a mail to `text`, each attachment under its name, and return what it says of itself.

    Raises ExtractionError.
    """
    message = BytesParser(policy=policy.default).parsebytes(data)
    headers = {name: " ".join(str(message.get(name, "")).split()) for name in SHOWN}
    attachments = list(_attachments(message))
    _envelope(headers, [name for name, _ in attachments], text)
    _body(message, text)
    _add_attachments(attachments, text, read_attachment)
    return {
        "title": headers["Subject"], "authors": headers["From"], "created_at": headers["Date"],
    }  # fmt: skip


def read_outlook(data: bytes, text: Text, read_attachment: Reader) -> dict[str, Any]:
    """Add an Outlook message to `text` as `read` does. Raises ExtractionError."""
    said = parser.parse(data, "application/vnd.ms-outlook").metadata
    metadata: dict[str, Any] = dict(said or {})
    headers = {
        "Subject": str(metadata.get("subject") or ""),
        "From": str(metadata.get("from_email") or ""),
        "To": ", ".join(metadata.get("to_emails") or []),
        "Cc": ", ".join(metadata.get("cc_emails") or []),
        "Date": str(metadata.get("created_at") or ""),
    }
    try:
        message = Message.load(io.BytesIO(data))
        attachments = [
            (each.file_name or "attachment", each.file_bytes or b"")
            for each in message.attachments if each.attached_by_value
        ]  # fmt: skip
        body, html = message.body, message.html_body
    except (OSError, ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        raise ExtractionError("corrupt") from error
    _envelope(headers, [name for name, _ in attachments], text)
    if body and body.strip():
        text.add(body, None)
    elif html:
        web_page.read(html, text)
    _add_attachments(attachments, text, read_attachment)
    return {
        "title": headers["Subject"], "authors": headers["From"], "created_at": headers["Date"],
    }  # fmt: skip


def _envelope(headers: dict[str, str], names: list[str], text: Text) -> None:
    lines = {**headers, "Attachments": ", ".join(names)}
    text.add("\n".join(f"{name}: {value}" for name, value in lines.items() if value), None)


def _body(message: EmailMessage, text: Text) -> None:
    """Add a mail's text: as it was typed if it is there, or as the page it was sent as."""
    part = message.get_body(("plain",)) or message.get_body(("html",))
    if part is None:
        return
    content = _decoded(part)
    if part.get_content_type() == "text/html":
        web_page.read(content, text)
    else:
        text.add(content, None)


def _decoded(part: MIMEPart) -> str:
    """Return a part's text, in the encoding that it names if that is one."""
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else str(part.get_payload()).encode()
    try:
        return content.decode(part.get_content_charset("utf-8"))
    except (LookupError, UnicodeDecodeError):
        return decode(content) or content.decode("utf-8", "replace")


def _attachments(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    """Yield the name and bytes of what is attached; pictures within the text are not."""
    for number, part in enumerate(message.iter_attachments(), 1):
        if part.get_content_disposition() == "inline" and part.get_content_maintype() == "image":
            continue
        if part.get_content_type() == "message/rfc822":
            inner = part.get_content()
            yield f"{inner.get('Subject') or 'message'}.eml", inner.as_bytes()
        else:
            payload = part.get_payload(decode=True)
            content = payload if isinstance(payload, bytes) else b""
            yield part.get_filename() or f"attachment {number}", content


def _add_attachments(
    attachments: list[tuple[str, bytes]], text: Text, read_attachment: Reader
) -> None:
    """Add what is attached, each under its name; what cannot be read says why."""
    if len(attachments) > MOST_ATTACHMENTS:
        raise ExtractionError("too-large", f"A mail has at most {MOST_ATTACHMENTS} attachments.")
    for name, content in attachments:
        text.add(structure.heading(2, name), None)
        try:
            attached = read_attachment(content, name)
        except ExtractionError as error:
            if error.code in {"too-large", "timeout"}:
                raise
            attached = f"(This attachment was not read. {error.message})"
        text.add(HEADING.sub(lambda marks: f"##{marks[0]}"[:6], attached), None)
