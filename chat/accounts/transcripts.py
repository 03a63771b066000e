"""A conversation as Markdown, for reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from django.utils.text import slugify

from chat import evidence
from chat.models import Role

if TYPE_CHECKING:
    from chat.models import Conversation, Message


def file_name(conversation: Conversation) -> str:
    """Return a name of plain letters by day and title; the key makes it one of a kind."""
    title = slugify(conversation.title)[:50].strip("-") or "conversation"
    return f"{conversation.created_at:%Y-%m-%d}-{title}-{conversation.pk.hex[-8:]}.md"


def transcript(conversation: Conversation, messages: Iterable[Message]) -> Iterator[str]:
    """Yield the title, then each question and its answer with the sources that it cites."""
    yield f"# {one_line(conversation.title)}\n\n"
    yield f"{conversation.created_at:%Y-%m-%d %H:%M} UTC\n"
    for message in messages:
        if message.role == Role.USER:
            yield f"\n## {one_line(message.text)}\n\n"
            if "\n" in message.text.strip():
                yield f"{message.text.strip()}\n\n"
        else:
            yield f"{message.text.strip() or '(No text was written.)'}\n"
            yield from _sources(message)


def _sources(message: Message) -> Iterator[str]:
    for number, source in enumerate(evidence.cited(message)):
        yield "" if number else "\n"
        pages = ", ".join(map(str, source.pages))
        where = f", {'pp.' if len(source.pages) > 1 else 'p.'} {pages}" if pages else ""
        quotes = " ".join(f"“{one_line(quote)}”" for quote in source.quotes)
        said = f": {quotes}" if quotes else ""
        yield f"- [{source.index}] {one_line(source.title)}{where}{said}\n"


def one_line(text: str) -> str:
    """Return a text with its white space folded."""
    return " ".join(text.split())
