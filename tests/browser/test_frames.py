"""The client for frames by itself, on a page of the same site that is not the chat."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page

from chat.accounts import tokens
from chat.accounts.models import Scope
from tests.browser.conftest import NewPage, until
from tests.browser.scripted import ScriptedSocket

CLIENT = """async ([token]) => {
  const { FrameClient } = await import('/static/js/frames.js');
  window.told = [];
  window.client = new FrameClient(location.origin, token);
  for (const type of ['open', 'close', 'frame']) {
    client.on(type, (event) => told.push([type, event ?? null]));
  }
}"""


def begin(page: Page, token: str = "") -> None:
    """Make a client on the page, and return when it is connected."""
    page.evaluate(CLIENT, [token])
    until(page, "() => told.some(([type]) => type === 'open')")


def blank_page(page: Page) -> Page:
    """Lead a page to one of the site without the chat, and without an icon."""
    page.route("**/favicon.ico", lambda route: route.fulfill(status=204))
    page.goto("/healthz")
    return page


def frames(page: Page) -> list[dict[str, Any]]:
    """Return the frames that the client has told of."""
    told: list[list[Any]] = page.evaluate("told")
    return [event for name, event in told if name == "frame"]


@pytest.fixture
def blank(new_page: NewPage, ada: User) -> Page:
    """Return a page of the site without the chat, of someone who is signed in."""
    return blank_page(new_page(ada))


@pytest.fixture
def socket(blank: Page) -> ScriptedSocket:
    """Return such a page whose socket the test speaks for, with a client that is connected."""
    scripted = ScriptedSocket(blank)
    begin(blank)
    return scripted


def test_a_question_is_answered(blank: Page, tower: None) -> None:
    begin(blank)
    ask = blank.evaluate("client.ask('How high is the tower of Lund?')")
    until(blank, "() => told.some(([, frame]) => frame?.type === 'done')")
    found = frames(blank)
    assert found[0]["ask"] == ask
    assert [frame["seq"] for frame in found] == list(range(1, len(found) + 1))
    assert "96 metres" in found[-1]["answer"]
    text = "".join(frame["text"] for frame in found if frame["type"] == "token")
    assert text == found[-1]["answer"]


def test_a_token_signs_a_program_in(new_page: NewPage, ada: User, tower: None) -> None:
    _, token = tokens.make(ada, "script", [Scope.ASK])
    page = blank_page(new_page())
    begin(page, token)
    page.evaluate("client.ask('How high is the tower of Lund?')")
    until(page, "() => told.some(([, frame]) => frame?.type === 'done')")


def test_who_is_not_signed_in_is_told_so_once(new_page: NewPage) -> None:
    page = blank_page(new_page())
    page.evaluate(CLIENT, [""])
    until(page, "() => told.some(([type]) => type === 'close')")
    assert page.evaluate("told.at(-1)") == ["close", {"code": 4401, "again": False}]


def test_each_frame_is_told_of_once_and_in_order(socket: ScriptedSocket) -> None:
    page = socket.page
    page.evaluate("client.ask('How far?')")
    socket.begin(socket.wait_for("ask"))
    socket.send_raw({"type": "token", "run": socket.run, "seq": 3, "text": "two"})
    assert socket.wait_for("resume") == {"type": "resume", "run": socket.run, "after": 1}
    socket.send("token", text="one ")
    socket.send_raw({"type": "token", "run": socket.run, "seq": 2, "text": "one "})
    socket.send("token", text="two")
    until(page, "() => told.at(-1)[1]?.text === 'two'")
    assert [frame["seq"] for frame in frames(page)] == [1, 2, 3]


def test_what_was_asked_and_stopped_in_vain_is_sent_again(socket: ScriptedSocket) -> None:
    page = socket.page
    ask = page.evaluate("client.ask('How far?')")
    assert socket.wait_for("ask")["id"] == ask
    page.evaluate("(ask) => client.stop({ ask })", ask)
    assert socket.wait_for("stop") == {"type": "stop", "ask": ask}
    assert socket.route is not None
    socket.route.close(code=1012)
    assert socket.wait_for("ask")["id"] == ask
    assert socket.wait_for("stop") == {"type": "stop", "ask": ask}
    socket.begin({"id": ask})
    socket.done("", reason="cancelled")
    until(page, "() => told.at(-1)[1]?.type === 'done'")
    socket.messages.clear()
    socket.route.close(code=1012)
    page.evaluate("client.watch('c1')")
    assert socket.wait_for("watch") == {"type": "watch", "conversation": "c1"}
    assert not socket.messages


def test_a_run_is_resumed_where_it_was(socket: ScriptedSocket) -> None:
    page = socket.page
    page.evaluate("(run) => client.resume(run, 4)", socket.run)
    assert socket.wait_for("resume") == {"type": "resume", "run": socket.run, "after": 4}
    socket.seq = 4
    socket.send("token", text="on")
    until(page, "() => told.at(-1)[1]?.text === 'on'")
    assert socket.route is not None
    socket.route.close(code=1012)
    assert socket.wait_for("resume") == {"type": "resume", "run": socket.run, "after": 5}


def test_a_refused_question_is_told_of_and_not_asked_again(socket: ScriptedSocket) -> None:
    page = socket.page
    ask = page.evaluate("client.ask('How far?')")
    socket.wait_for("ask")
    refused = {"type": "error", "run": None, "seq": 0, "ask": ask, "code": "busy", "message": ""}
    socket.send_raw(refused | {"recoverable": True, "retry_in_ms": 0})
    until(page, "() => told.at(-1)[1]?.code === 'busy'")
    assert socket.route is not None
    socket.route.close(code=1012)
    page.evaluate("client.watch('c1')")
    socket.wait_for("watch")
    assert not socket.messages


def test_handlers_are_taken_off_and_a_closed_client_stays_away(socket: ScriptedSocket) -> None:
    page = socket.page
    page.evaluate("window.off = client.on('token', () => told.push(['heard', null])); off()")
    socket.begin({})
    socket.send("token", text="one")
    until(page, "() => told.at(-1)[1]?.text === 'one'")
    assert ["heard", None] not in page.evaluate("told")
    first = socket.route
    page.evaluate("client.close(); window.dispatchEvent(new Event('online'))")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert socket.route is first
