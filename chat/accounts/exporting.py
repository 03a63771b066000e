"""Everything there is of a person, as a zip that is written while it is sent."""

from __future__ import annotations

import json
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import prefetch_related_objects
from django.utils import timezone

from chat import evidence
from chat.accounts import own_records
from chat.accounts.transcripts import file_name, transcript
from chat.models import Conversation
from retrieval.streaming import by_key

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.models import Message

# Conversations that are read together.
PAGE = 20
README = """Your data, of {now:%Y-%m-%d %H:%M} UTC, as {name}.

profile.json         your account, your groups, and how you sign in (no secrets)
conversations.json   your conversations: messages, citations, what you said of answers, and how
                     each answer came about
conversations/       the same for reading, as Markdown
tokens.json          your API tokens (not the tokens themselves)
sessions.json        where you are signed in
uploads.json         the documents you uploaded
audit.json           what the audit log says you did, and what was done with your data

Of documents that you may no longer see, titles and quotes are left out, and answers that only
quote them. What a model wrote in its own words is there as you read it.
"""


class Sink:
    """A file that cannot be sought in; what is written to it can be taken away."""

    def __init__(self) -> None:
        self.written = bytearray()

    def write(self, data: bytes) -> int:
        """Keep what is written."""
        self.written += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: there is nothing behind this."""

    def close(self) -> None:
        """Do nothing: what is left can still be taken."""

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken = bytes(self.written)
        self.written.clear()
        return taken


def archive(user: User) -> Iterator[bytes]:
    """Yield the zip of a person's data; no more than a few conversations are in memory."""
    sink = Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as out:
        for name, parts in _files(user):
            with out.open(name, "w") as file:
                for part in parts:
                    file.write(part.encode())
                    yield sink.take()
    yield sink.take()


def _files(user: User) -> Iterator[tuple[str, Iterable[str]]]:
    now = timezone.now()
    yield "README.txt", [README.format(now=now, name=user.get_username())]
    yield "profile.json", [_json(own_records.profile(user))]
    yield "conversations.json", _list(own_records.conversation(*each) for each in _all(user))
    yield "tokens.json", _list(own_records.tokens(user))
    yield "sessions.json", _list(own_records.sessions(user))
    yield "uploads.json", _list(own_records.uploads(user))
    yield "audit.json", _list(own_records.events(user))
    for conversation, messages in _all(user):
        yield f"conversations/{file_name(conversation)}", transcript(conversation, messages)


def _all(user: User) -> Iterator[tuple[Conversation, list[Message]]]:
    own = Conversation.with_deleted.filter(user=user).select_related("assistant")
    for page in by_key(own, PAGE):
        said = defaultdict(list)
        messages = evidence.messages(user, conversation__in=page)
        prefetch_related_objects(messages, "feedback")
        for message in messages:
            said[message.conversation_id].append(message)
        for conversation in page:
            yield conversation, said[conversation.pk]


def _list(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a JSON array of records, one at a time."""
    before = "[\n"
    for record in records:
        yield before + _json(record)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)
