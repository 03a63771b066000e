"""How long conversations, guests, details of runs and sessions are kept."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.utils import timezone

from chat.accounts.models import Guest
from chat.models import Citation, Conversation, Run, RunFrame, RunState
from retrieval import expiry
from retrieval.models import DocumentVersion
from tests import conversations

pytestmark = pytest.mark.django_db


def ago(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


@pytest.fixture
def run() -> Run:
    timings, written = {"first_token_ms": 5}, [{"kind": "question", "texts": ["Lamp?"]}]
    ada = conversations.person("ada")
    return conversations.answered(ada, timings=timings, written=written, finished_at=ago(40))


def aged(run: Run, days: int) -> Run:
    """Let a conversation have ended so many days ago."""
    Conversation.objects.filter(pk=run.conversation_id).update(updated_at=ago(days))
    return run


def another(run: Run, **fields: Any) -> Run:
    version = DocumentVersion.objects.get()
    user = fields.pop("user", run.user)
    return conversations.answered(user, version=version, **fields)


def test_conversations_go_when_nothing_was_said_for_so_long(run: Run, settings: Any) -> None:
    settings.CONVERSATION_DAYS = 30
    aged(run, 31)
    kept = aged(another(run), 29)
    expiry.enforce()
    assert [*Run.objects.all()] == [kept]
    assert not Citation.objects.exclude(message__run=kept).exists()


def test_a_conversation_that_is_being_answered_stays(run: Run, settings: Any) -> None:
    settings.CONVERSATION_DAYS = 30
    aged(run, 31)
    Run.objects.update(state=RunState.RUNNING)
    expiry.enforce()
    assert Run.objects.exists()


def test_guests_go_with_their_conversations_on_a_time_of_their_own(run: Run, settings: Any) -> None:
    settings.CONVERSATION_DAYS, settings.GUEST_DAYS = 0, 7
    aged(run, 100)
    old, new = (Guest.objects.create_guest() for _ in range(2))
    silent = Guest.objects.create_guest()
    Guest.objects.update(date_joined=ago(100))
    aged(another(run, user=old), 8)
    kept = aged(another(run, user=new), 6)
    assert silent != new
    expiry.enforce()
    assert [*Guest.objects.all()] == [new]
    assert {*Run.objects.all()} == {run, kept}


def test_conversations_of_guests_do_not_go_by_the_time_of_others(run: Run, settings: Any) -> None:
    settings.CONVERSATION_DAYS, settings.GUEST_DAYS = 30, 0
    aged(another(run, user=Guest.objects.create_guest()), 100)
    aged(run, 100)
    expiry.enforce()
    assert [guest.user.get_username()[:6] for guest in Run.objects.all()] == ["guest-"]


def test_of_old_runs_what_is_cited_stays(run: Run, settings: Any) -> None:
    settings.RUN_DETAILS_DAYS = 30
    RunFrame.objects.create(run=run, seq=1, payload={})
    newer = another(run, timings={"first_token_ms": 5}, finished_at=ago(20))
    assert expiry.preview()["details of runs"] == 1
    expiry.enforce()
    assert expiry.preview()["details of runs"] == 0
    run.refresh_from_db()
    assert (run.timings, run.written) == ({}, [])
    assert run.answer.text.startswith("The lamp")
    assert [candidate.index for candidate in run.candidates.all()] == [1]
    assert not run.frames.exists()
    assert run.answer.citations.count() == 2
    newer.refresh_from_db()
    assert (newer.timings, newer.candidates.count()) == ({"first_token_ms": 5}, 3)


def test_by_default_only_guests_and_what_has_expired_go(run: Run) -> None:
    aged(run, 5000)
    Session.objects.create(session_key="old", expire_date=ago(1))
    Session.objects.create(session_key="new", expire_date=ago(-1))
    for key in ("old", "new"):
        noted = {"session_key": key, "user": run.user, "ip": "192.0.2.7"}
        UserSession.objects.create(user_agent="Browser", **noted)
    expiry.enforce()
    assert Run.objects.get().timings
    assert [session.pk for session in Session.objects.all()] == ["new"]
    assert [noted.session_key for noted in UserSession.objects.all()] == ["new"]


def test_a_deleted_conversation_goes_once_it_cannot_be_brought_back(run: Run) -> None:
    Conversation.objects.update(deleted_at=timezone.now())
    expiry.enforce()
    assert Run.objects.exists()
    Conversation.with_deleted.update(deleted_at=ago(1))
    expiry.enforce()
    assert not Run.objects.exists()
    assert not Conversation.with_deleted.exists()
