"""Answers over HTTP, while who reads them loses the right to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.utils import timezone

from chat.accounts import tokens
from chat.accounts.models import Scope
from chat.models import Run, RunState
from retrieval.models import Visibility
from tests.chat.api.conftest import Live
from tests.chat.api.native.events import Event, read
from tests.servers import wait_until

QUESTION = {"text": "How high is the tower of Lund?"}


def until(events: Iterator[Event], name: str) -> Event:
    return next(event for event in events if event.name == name)


def in_site(live: Live, work: Callable[[], object]) -> None:
    """Do something as a request to the site would, whose readers hear of it."""

    def done() -> None:
        work()
        connections.close_all()

    live.site.run(sync_to_async(done)())


def asking(live: Live, token: str) -> Iterator[Event]:
    """Yield the events of an answer that does not end by itself."""
    live.say("The tower of Lund ", live.gate())
    client = live.client(token)
    with client, client.stream("POST", "/api/v1/runs", json=QUESTION) as answer:
        yield from read(answer.iter_lines())


def test_an_answer_is_no_longer_read_by_who_has_a_revoked_token(live: Live) -> None:
    token, raw = tokens.make(live.user, "Revoked", [Scope.ASK])
    events = asking(live, raw)
    until(events, "token")
    in_site(live, token.revoke)
    rest = list(events)
    assert [event.data.get("code") for event in rest] == ["signed_out"]
    assert rest[-1].id is None


def test_an_answer_is_no_longer_read_when_the_token_expires(live: Live) -> None:
    """Nobody says so: its time is up."""
    soon = timezone.now() + timedelta(seconds=2)
    _, raw = tokens.make(live.user, "Short", [Scope.ASK], soon)
    rest = list(asking(live, raw))
    assert rest[-1].data.get("code") == "signed_out"


def test_an_answer_ends_when_its_reader_may_no_longer_see_what_it_draws_on(
    live: Live, request: pytest.FixtureRequest
) -> None:
    def openly(visibility: Visibility) -> None:
        live.collection.visibility = visibility
        live.collection.save()

    request.addfinalizer(lambda: openly(Visibility.SIGNED_IN))
    events = asking(live, live.other_token)
    until(events, "token")
    in_site(live, lambda: openly(Visibility.RESTRICTED))
    last = list(events)[-1]
    assert last.data["code"] == "access_lost"
    run = Run.objects.get(pk=last.data["run"])
    wait_until(lambda: Run.objects.get(pk=run.pk).state == RunState.FAILED, "it failed")


def test_another_s_token_that_is_revoked_ends_nothing(live: Live) -> None:
    other, _ = tokens.make(live.other, "Another's", [Scope.ASK])
    gate = live.gate()
    live.say("The tower ", gate, "is high [1].")
    with live.client() as client, client.stream("POST", "/api/v1/runs", json=QUESTION) as answer:
        events = read(answer.iter_lines())
        until(events, "token")
        in_site(live, other.revoke)
        gate.open()
        assert list(events)[-1].name == "done"


def test_a_page_s_answer_ends_with_its_session(live: Live) -> None:
    """Signing out reaches what is being read."""
    from django.test import Client  # noqa: PLC0415 - needs the site's settings

    page = Client()
    page.force_login(live.user)
    session = page.cookies["sessionid"].value
    live.say("The tower of Lund ", live.gate())
    csrf = "x" * 32
    headers = {"Cookie": f"sessionid={session}; csrftoken={csrf}", "X-CSRFToken": csrf}
    with (
        httpx.Client(base_url=live.base_url, headers=headers, timeout=20) as client,
        client.stream("POST", "/api/v1/runs", json=QUESTION) as answer,
    ):
        events = read(answer.iter_lines())
        until(events, "token")
        in_site(live, page.logout)
        assert list(events)[-1].data["code"] == "signed_out"
