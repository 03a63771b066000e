"""PostgreSQL goes away under a web process, and comes back."""

from __future__ import annotations

import contextlib
import time
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

POOL_SECONDS: float = settings.DATABASES["default"]["OPTIONS"]["pool"]["timeout"]


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


def test_a_page_of_another_process_goes_on_when_that_process_reaches_the_database_again(
    start_web: Callable[..., Web],
    web: Web,
    relay: Relay,
    visit: Callable[..., Page],
    model: Provider,
) -> None:
    model.script(Answer(tokens=[TOKEN] * 10))
    owner, reader = visit(start_web().port), visit(web.port)
    run = owner.ask()["run"]
    reader.send(type="resume", run=run, after=0)
    model.release(2)
    reader.until("citation", count=2)
    relay.cut()
    cut = time.monotonic()
    model.release(8)
    assert owner.until("done", "error")["type"] == "done"
    # Longer than the pool waits for a connection.
    wait_until(lambda: time.monotonic() - cut > POOL_SECONDS + 2, "it is away for long")
    relay.open()
    wait_until(lambda: health(web) == 200, "the site is healthy again")
    try:
        ending = reader.until("done", "error")
        text = reader.text
    except ConnectionClosed:  # a browser comes back
        back = come_back(visit, web)
        back.send(type="resume", run=run, after=reader.frames[-1]["seq"])
        ending = back.until("done", "error")
        text = reader.text + back.text
    assert ending["type"] == "done"
    assert text == owner.text
