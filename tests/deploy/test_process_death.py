"""A web process that is killed in mid-answer: nothing is lost, nothing is stuck."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import httpx
from django.conf import settings

from chat.models import Message, Role, Run, RunState
from tests.deploy.conftest import TOKEN, Page, Web
from tests.provider import Provider
from tests.servers import wait_until


def stored() -> str:
    """Return the answer's text as it is stored."""
    return Message.objects.get(role=Role.ASSISTANT).text


def test_after_a_kill_the_answer_is_there_as_far_as_it_was_streamed_and_can_be_asked_again(
    start_web: Callable[..., Web],
    visit: Callable[..., Page],
    cookie: str,
    model: Provider,
    tower: None,
) -> None:
    web = start_web(RUN_GRACE_SECONDS="30")
    page = visit(web.port)
    status = page.ask()
    model.release(3)
    page.until("citation", count=3)
    wait_until(lambda: stored().count("[1]") == 3, "what was streamed is stored", seconds=5)
    web.process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    web.process.wait()
    assert stored() in TOKEN * 3

    web.start()
    returned = visit(web.port)
    returned.send(type="watch", conversation=status["conversation"])
    ending = returned.until("done", "error")
    assert time.monotonic() - killed < settings.RUN_LEASE_SECONDS + 5
    assert (ending["code"], ending["recoverable"]) == ("interrupted", True)
    assert returned.text == stored()
    assert Run.objects.get().state == RunState.INTERRUPTED

    url = f"{web.url}/c/{status['conversation']}/"
    html = httpx.get(url, headers={"Cookie": cookie}).text
    assert 'data-notice="interrupted"' in html
    assert "data-ask-again" in html
    assert "The tower is high" in html

    model.release(1)
    again = returned.ask(conversation=status["conversation"])
    assert again["stage"] == "queued"
    returned.until("token")
    returned.send(type="stop", run=again["run"])
    assert returned.until("done", "error")["finish_reason"] == "cancelled"


def test_a_page_that_had_more_than_was_stored_gets_what_was_stored(
    start_web: Callable[..., Web], visit: Callable[..., Page], model: Provider, tower: None
) -> None:
    web = start_web(RUN_GRACE_SECONDS="30")
    page = visit(web.port)
    run = page.ask()["run"]
    model.release(1)
    page.until("citation")
    wait_until(lambda: "[1]" in stored(), "the first token is stored", seconds=5)
    web.process.send_signal(signal.SIGKILL)
    web.process.wait()

    other = start_web()
    returned = visit(other.port)
    returned.send(type="resume", run=run, after=page.frames[-1]["seq"] + 100)
    assert returned.until("done", "error")["code"] == "interrupted"
    assert [frame["type"] for frame in returned.frames] == ["snapshot", "error"]
    assert returned.frames[0]["text"] == stored()
