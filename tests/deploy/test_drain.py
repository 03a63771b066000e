"""Ending a web process: on SIGTERM in order, on Ctrl-C shortly, on a second signal at once."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from chat.management.supervisor import TOGETHER_SECONDS
from chat.models import Run, RunState
from tests.deploy.conftest import END_SECONDS, SOON_SECONDS, TOKEN, Page, Web
from tests.provider import Answer, Provider
from tests.servers import wait_until

Visit = Callable[..., Page]


@pytest.fixture
def web(start_web: Callable[..., Web], tower: None) -> Web:
    return start_web(RUN_GRACE_SECONDS="30")


@pytest.fixture
def writing(web: Web, visit: Visit, model: Provider) -> Page:
    """Return a page on which an answer has begun that takes ten tokens."""
    model.script(Answer(tokens=[TOKEN] * 10))
    page = visit(web.port)
    page.ask()
    model.release(2)
    page.until("token", count=2)
    return page


def drain(web: Web, number: signal.Signals = signal.SIGTERM) -> None:
    """Send a signal, and return when the process is draining."""
    web.process.send_signal(number)
    wait_until(lambda: httpx.get(f"{web.url}/healthz").status_code == 503, "unhealthy")


def close_code(page: Page) -> int:
    """Read until the socket is closed; return the code."""
    with pytest.raises(ConnectionClosed) as closed:
        page.until("nothing")
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def test_an_answer_is_finished_and_then_the_socket_is_closed_as_restarting(
    web: Web, writing: Page, model: Provider
) -> None:
    drain(web)
    model.release(100)
    assert writing.until("done", "error")["finish_reason"] == "stop"
    assert close_code(writing) == 1012
    assert web.process.wait(END_SECONDS) == 0
    run = Run.objects.get()
    assert (run.state, run.answer.text) == (RunState.COMPLETED, TOKEN * 10)


def test_a_question_is_refused_with_a_hint_to_try_again(web: Web, writing: Page) -> None:
    drain(web)
    refused = writing.ask(id="second")
    while refused["type"] != "error":
        refused = writing.until("error")
    assert (refused["code"], refused["recoverable"]) == ("draining", True)
    assert (refused["ask"], refused["run"]) == ("second", None)
    assert Run.objects.count() == 1


def test_pages_that_wait_for_nothing_are_sent_away_at_once_and_no_socket_is_opened(
    web: Web, visit: Visit, writing: Page
) -> None:
    idle = visit(web.port)
    drain(web)
    assert close_code(idle) == 1012
    with pytest.raises(InvalidStatus) as denied:
        visit(web.port)
    assert denied.value.response.status_code == 503
    assert httpx.get(f"{web.url}/accounts/login/").status_code == 200


def test_an_answer_that_takes_too_long_is_interrupted(
    start_web: Callable[..., Web], visit: Visit, model: Provider, tower: None
) -> None:
    web = start_web(RUN_GRACE_SECONDS="30", DRAIN_SECONDS="0.5")
    page = visit(web.port)
    page.ask()
    model.release(2)
    page.until("token", count=2)
    web.process.send_signal(signal.SIGTERM)
    assert page.until("done", "error")["code"] == "interrupted"
    assert close_code(page) == 1012
    assert web.process.wait(END_SECONDS) == 0
    run = Run.objects.get()
    assert (run.state, run.answer.text) == (RunState.INTERRUPTED, page.text)
    assert model.wait_for_request().closed.done()


def test_ctrl_c_hardly_waits(web: Web, writing: Page) -> None:
    pressed = time.monotonic()
    web.process.send_signal(signal.SIGINT)
    assert web.process.wait(END_SECONDS) == 0
    assert time.monotonic() - pressed < SOON_SECONDS
    assert Run.objects.get().state == RunState.INTERRUPTED


def test_a_second_signal_ends_at_once(web: Web, writing: Page) -> None:
    drain(web)
    time.sleep(TOGETHER_SECONDS)  # as people do, who press a key twice
    pressed = time.monotonic()
    web.process.send_signal(signal.SIGTERM)
    web.process.wait(END_SECONDS)
    assert time.monotonic() - pressed < SOON_SECONDS


def test_signals_that_come_together_are_one(web: Web, writing: Page, model: Provider) -> None:
    for _ in range(2):
        web.process.send_signal(signal.SIGTERM)
    wait_until(lambda: httpx.get(f"{web.url}/healthz").status_code == 503, "unhealthy")
    model.release(100)
    assert writing.until("done", "error")["finish_reason"] == "stop"
    assert web.process.wait(END_SECONDS) == 0


def test_without_answers_it_ends_at_once(web: Web, visit: Visit) -> None:
    page = visit(web.port)
    pressed = time.monotonic()
    web.process.send_signal(signal.SIGTERM)
    assert web.process.wait(END_SECONDS) == 0
    assert time.monotonic() - pressed < SOON_SECONDS
    assert close_code(page) == 1012
