"""PostgreSQL goes away under a web process, and comes back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import httpx
import pytest
from django.conf import settings
from django.db import connection
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from chat.models import Run, RunState
from tests.deploy.conftest import TOKEN, Page, Web
from tests.provider import Answer, Provider
from tests.servers import Relay, wait_until


@pytest.fixture
def relay(transactional_db: None) -> Iterator[Relay]:
    """Return what a web process reaches PostgreSQL through."""
    relay = Relay(int(connection.settings_dict["PORT"]))
    relay.open()
    yield relay
    relay.cut()


@pytest.fixture
def web(start_web: Callable[..., Web], relay: Relay, tower: None) -> Web:
    return start_web(database_port=relay.port)


def health(web: Web) -> int:
    return httpx.get(f"{web.url}/healthz", timeout=20).status_code


def come_back(visit: Callable[..., Page], web: Web) -> Page:
    """Open a socket as a browser does: again, while the site's connections come back one by one."""
    pages: list[Page] = []

    def opened() -> list[Page]:
        with contextlib.suppress(InvalidHandshake):
            pages.append(visit(web.port))
        return pages

    wait_until(opened, "a socket is opened")
    return pages[0]


def test_an_answer_is_streamed_on_and_is_whole_when_the_database_is_back(
    web: Web, relay: Relay, visit: Callable[..., Page], model: Provider
) -> None:
    model.script(Answer(tokens=[TOKEN] * 10))
    page = visit(web.port)
    page.ask()
    model.release(2)
    page.until("citation", count=2)
    relay.cut()
    assert health(web) == 503
    model.release(3)
    page.until("citation", count=3)
    relay.open()
    wait_until(lambda: health(web) == 200, "the site is healthy again")
    model.release(5)
    assert page.until("done", "error")["finish_reason"] == "stop"
    run = Run.objects.get()
    assert (run.state, run.answer.text) == (RunState.COMPLETED, page.text)
    assert run.answer.citations.count() == 10
    assert page.ask(conversation=str(run.conversation_id))["stage"] == "queued"


def test_what_is_asked_meanwhile_can_be_asked_again(
    web: Web, relay: Relay, visit: Callable[..., Page]
) -> None:
    page = visit(web.port)
    page.ask(id="before")
    relay.cut()
    with contextlib.suppress(ConnectionClosed):
        page.ask(id="meanwhile")
    relay.open()
    wait_until(lambda: health(web) == 200, "the site is healthy again")
    started = come_back(visit, web).ask(id="meanwhile")
    assert (started["stage"], started["ask"]) == ("queued", "meanwhile")


def test_an_answer_that_ends_meanwhile_is_seen_and_its_conversation_is_not_stuck(
    web: Web, relay: Relay, visit: Callable[..., Page], model: Provider
) -> None:
    model.script(Answer(tokens=[TOKEN] * 3))
    page = visit(web.port)
    conversation = page.ask()["conversation"]
    model.release(2)
    page.until("citation", count=2)
    relay.cut()
    model.release(5)
    assert page.until("done", "error")["type"] == "done"
    relay.open()
    wait_until(lambda: health(web) == 200, "the site is healthy again")
    returned = come_back(visit, web)

    def accepted() -> bool:
        return returned.ask(conversation=conversation)["type"] == "status"

    wait_until(accepted, "the conversation takes a question", settings.RUN_LEASE_SECONDS + 10)
