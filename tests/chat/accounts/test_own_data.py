"""People take their own data with them."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat import quoting
from chat.accounts import tokens
from chat.models import Citation, Feedback
from retrieval.audit.models import AuditEvent
from retrieval.audit.recording import record
from retrieval.backends.base import QUOTING
from retrieval.models import Collection, Document, DocumentVersion, Visibility
from tests import conversations

pytestmark = pytest.mark.django_db
# What is streamed is made on other threads.
streamed = pytest.mark.django_db(transaction=True)
PAGE = "/accounts/data/"


def exported(client: Client) -> zipfile.ZipFile:
    async def collect() -> bytes:
        return b"".join([piece async for piece in response])

    response: Any = client.post(f"{PAGE}export/")
    assert response["Content-Type"] == "application/zip"
    return zipfile.ZipFile(io.BytesIO(asyncio.run(collect())))


def read(archive: zipfile.ZipFile, name: str) -> Any:
    return json.loads(archive.read(name))


@streamed
def test_an_export_has_everything_of_a_person_and_nothing_of_others(
    signed_in: Client, ada: User, bob: User
) -> None:
    run = conversations.answered(ada, timings={"first_token_ms": 5})
    version = DocumentVersion.objects.get()
    conversations.answered(bob, "What does Bob ask?", version=version)
    Document.objects.update(uploaded_by=ada)
    Feedback.objects.create(
        message=run.answer, user=ada, helpful=False, reason="wrong", comment="It is 25 miles."
    )
    token, raw = tokens.make(ada, "Backup", ["ask"], None)
    archive = exported(signed_in)
    assert archive.testzip() is None
    everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert "Bob" not in everything
    for secret in (ada.password, raw, token.digest, signed_in.session.session_key or ""):
        assert secret not in everything
    assert read(archive, "profile.json")["email"] == "ada@example.org"
    (conversation,) = read(archive, "conversations.json")
    question, answer = conversation["messages"]
    assert question["text"] == "How far can the lamp be seen?"
    assert answer["run"]["timings_ms"] == {"first_token_ms": 5}
    assert answer["citations"][0]["title"] == "Lighthouses of Scotland"
    assert answer["run"]["id"] == str(run.pk)
    assert [each["comment"] for each in answer["feedback"]] == ["It is 25 miles."]
    assert [each["name"] for each in read(archive, "tokens.json")] == ["Backup"]
    assert len(read(archive, "sessions.json")) == 1
    assert [each["title"] for each in read(archive, "uploads.json")] == ["Lighthouses of Scotland"]
    assert "login.succeeded" in {event["action"] for event in read(archive, "audit.json")}


@streamed
def test_conversations_are_there_for_reading(signed_in: Client, ada: User) -> None:
    conversations.answered(ada, "../How far?\nSay it in miles.")
    Citation.objects.filter(ordinal=1).update(page=1, quote="It was automated in 1998.")
    archive = exported(signed_in)
    (name,) = [name for name in archive.namelist() if name.endswith(".md")]
    assert name.startswith("conversations/20")
    assert "-how-far-say-it-in-miles-" in name
    text = archive.read(name).decode()
    assert "## ../How far? Say it in miles." in text
    assert "The lamp can be seen from **22 miles** away [1]." in text
    said = "“The lamp can be seen from 22 miles away.” “It was automated in 1998.”"
    assert text.endswith(f"\n\n- [1] Lighthouses of Scotland, pp. 1, 2: {said}\n")


@streamed
def test_an_export_of_nothing_is_well_formed(signed_in: Client) -> None:
    archive = exported(signed_in)
    assert read(archive, "conversations.json") == read(archive, "uploads.json") == []


@streamed
def test_what_one_may_no_longer_see_is_not_exported(signed_in: Client, ada: User) -> None:
    conversations.answered(ada)
    Document.objects.update(uploaded_by=ada)
    Collection.objects.update(visibility=Visibility.RESTRICTED, name="Secret place")
    archive = exported(signed_in)
    everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    for part in ('Lighthouses of Scotland"', "The foghorn fell", "Secret place"):
        assert part not in everything
    assert "22 miles" in everything


@streamed
def test_an_answer_that_only_quotes_what_one_may_no_longer_see_is_not_exported(
    signed_in: Client, ada: User
) -> None:
    conversations.answered(ada, model=QUOTING)
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    archive = exported(signed_in)
    parts = [archive.read(name).decode() for name in archive.namelist() if "conversations" in name]
    assert len(parts) == 2
    for part in parts:
        assert "22 miles" not in part
        assert quoting.hidden_answer() in part


@streamed
def test_who_read_a_conversation_is_told_but_not_by_name(
    signed_in: Client, ada: User, bob: User
) -> None:
    run = conversations.answered(ada)
    record(bob, "conversation.opened", run.conversation, owner=ada.pk)
    events = read(exported(signed_in), "audit.json")
    (opened,) = [event for event in events if event["action"] == "conversation.opened"]
    assert opened["by"] == "somebody else"
    assert "bob" not in json.dumps(events)


def test_memory_does_not_grow_with_the_number_of_conversations(
    signed_in: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conversations are read a page at a time, after those before were sent."""
    version = conversations.document()
    for number in range(3):
        conversations.answered(ada, f"{number}?", version=version)
    from chat import evidence  # noqa: PLC0415
    from chat.accounts import exporting  # noqa: PLC0415

    monkeypatch.setattr(exporting, "PAGE", 1)
    read_so_far: list[Any] = []
    messages = evidence.messages
    monkeypatch.setattr(
        evidence, "messages", lambda *a, **k: read_so_far.append(k) or messages(*a, **k)
    )
    parts = exporting.archive(ada)
    counts = [len(read_so_far) for _ in parts]
    assert counts == sorted(counts)
    assert set(counts) >= {0, 1, 2, 3, 4, 5, 6}


@streamed
def test_exporting_is_recorded(signed_in: Client, ada: User) -> None:
    exported(signed_in)
    assert AuditEvent.objects.get(action="own_data.exported").actor_id == ada.pk
