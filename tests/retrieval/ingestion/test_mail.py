"""Mails, and what is attached to them."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from retrieval.ingestion.errors import ExtractionError
from retrieval.ingestion.reading import read
from tests.documents import docx, paragraph


def mail(body: str = "Hello.", subject: str = "News", **attachments: bytes) -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Ann <a@x.org>", "b@x.org"
    message["Date"] = "Tue, 01 Oct 2024 12:34:56 -0500"
    message.set_content(body)
    for name, content in attachments.items():
        filename = name.replace("_", ".")
        message.add_attachment(
            content, maintype="application", subtype="octet-stream", filename=filename
        )
    return message


def test_headers_stand_before_the_text() -> None:
    """They are the title, the author and the date as well."""
    extracted = read(mail().as_bytes(), "a.eml")
    assert extracted["text"] == (
        "Subject: News\nFrom: Ann <a@x.org>\nTo: b@x.org\n"
        "Date: Tue, 01 Oct 2024 12:34:56 -0500\n\nHello."
    )
    assert (extracted["title"], extracted["metadata"]["authors"]) == ("News", "Ann <a@x.org>")


def test_attachments_of_any_kind_are_read_under_their_names() -> None:
    """Their own headings are below that, and what cannot be read says why."""
    word = docx(paragraph("Costs", '<w:outlineLvl w:val="0"/>') + paragraph("They fell."))
    message = mail(report_docx=word, list_csv=b"a,b\n1,2\n", photo_bin=bytes(range(256)) * 8)
    text = read(message.as_bytes(), "a.eml")["text"]
    assert "Attachments: report.docx, list.csv, photo.bin" in text
    assert "## report.docx\n\n### Costs\n\nThey fell." in text
    assert "## list.csv\n\n| a | b |\n| --- | --- |\n| 1 | 2 |" in text
    assert "## photo.bin\n\n(This attachment was not read. Files of this kind" in text


def test_mails_in_mails_end_somewhere() -> None:
    """Forwarded mails are read, but not for ever."""
    message = mail("The innermost.", "level 0")
    for level in range(1, 7):
        outer = mail(f"Text {level}.", f"level {level}")
        outer.add_attachment(message)
        message = outer
    text = read(message.as_bytes(), "a.eml")["text"]
    assert "Text 6." in text
    assert "Text 3." in text
    assert "The innermost." not in text
    assert "mails within mails" in text


def test_all_attachments_share_the_limit() -> None:
    """Many small attachments are one large text."""
    message = mail(**{f"part{n}_txt": b"word " * 100 for n in range(10)})
    with pytest.raises(ExtractionError) as caught:
        read(message.as_bytes(), "a.eml", 2000)
    assert caught.value.code == "too-large"


def test_a_page_is_read_if_there_is_no_plain_text() -> None:
    message = EmailMessage()
    message["Subject"], message["From"] = "Page", "a@x.org"
    message.set_content("<h1>Title</h1><p>Some <b>bold</b> words.</p>", subtype="html")
    assert "# Title\n\nSome bold words." in read(message.as_bytes(), "a.eml")["text"]


@pytest.mark.parametrize("charset", ["unknown-8bit", "x-nonsense", "us-ascii"])
def test_a_wrong_charset_is_not_believed(charset: str) -> None:
    raw = (
        f"From: a@x.org\nSubject: s\nDate: today\nMIME-Version: 1.0\n"
        f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    ).encode() + "Der Schlüssel hängt am Empfang.\n".encode()
    assert "Der Schlüssel hängt am Empfang." in read(raw, "a.eml")["text"]


def test_a_mail_is_known_by_its_headers() -> None:
    """Its name does not matter; a note that begins with a word and a colon is none."""
    assert read(mail().as_bytes(), "a.txt")["media_type"] == "message/rfc822"
    assert read(b"From: here\nto there\n", "a.txt")["media_type"] == "text/plain"


def test_an_outlook_message_has_its_attachments(data: Path) -> None:
    text = read((data / "outlook.msg").read_bytes(), "a.msg")["text"]
    assert "This email contains an attachment." in text
    assert "## test.txt\n\nThis is a test attachment file." in text
    assert "## report.pdf\n\n(This attachment was not read. This file is damaged" in text
