"""A connection that is lost, silent, or not there yet: what is said is true, and it is mended."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage, screenshot, until
from tests.browser.scripted import ScriptedSocket

QUESTION = "How far can the lamp be seen?"
# Nothing comes back by itself: the wait for another try is at random.
NEVER = "Math.random = () => 1000"
# What begins to connect then does so for ever.
NO_SERVER = "window.WebSocket = class { constructor() { this.close = () => {} } }; 0"
COME_BACK = "document.dispatchEvent(new Event('visibilitychange'))"


@pytest.fixture
def slow(new_page: NewPage, ada: User) -> ScriptedSocket:
    """Return a page whose clock the test can move on, and which does not connect by itself."""
    page = new_page(ada)
    page.clock.install()
    socket = ScriptedSocket(page)
    page.goto("/")
    until(page, "() => document.querySelector('#composer[data-ready]')")
    page.evaluate(NEVER)
    return socket


def write(page: Page) -> None:
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")


def cut(socket: ScriptedSocket) -> None:
    """End the connection, and let the page see that it has."""
    assert socket.route is not None
    socket.route.close(code=1012)
    socket.page.clock.fast_forward(1100)
    expect(socket.page.locator("#chat")).to_have_attribute("data-away", "")


def notice(page: Page, words: str) -> None:
    expect(page.locator(".connection")).to_have_text(words, use_inner_text=True)


def test_a_question_without_a_connection_waits_for_it_and_is_not_called_answered(
    slow: ScriptedSocket,
) -> None:
    page, line = slow.page, slow.page.locator(".status-text").last
    cut(slow)
    write(page)
    expect(line).to_have_text("Waiting for the connection…")
    notice(page, "Reconnecting…")
    page.clock.fast_forward(5100)
    expect(line).to_have_text("Still waiting for the connection…")
    page.clock.fast_forward(10_000)
    expect(line).to_contain_text("is sent as soon as it is back")
    assert not slow.messages
    page.evaluate(COME_BACK)
    message = slow.wait_for("ask")
    assert message["text"] == QUESTION
    expect(line).to_have_text("Sending…")
    slow.begin(message)
    expect(line).to_have_text("Question received")
    cut(slow)
    notice(page, "Reconnecting to your answer…")


def test_a_question_that_nothing_answers_is_said_to_take_long(slow: ScriptedSocket) -> None:
    page, line = slow.page, slow.page.locator(".status-text").last
    write(page)
    slow.wait_for("ask")
    expect(line).to_have_text("Sending…")
    page.clock.fast_forward(5100)
    expect(line).to_have_text("The server has not answered yet…")
    page.clock.fast_forward(10_000)
    expect(line).to_contain_text("Still no word from the server")


def test_what_is_said_of_a_wait_is_not_said_while_the_connection_is_lost(
    slow: ScriptedSocket,
) -> None:
    page, line = slow.page, slow.page.locator(".status-text").last
    write(page)
    slow.begin(slow.wait_for("ask"))
    slow.send("status", stage="searching", message="Searching…")
    expect(line).to_have_text("Searching…")
    cut(slow)
    page.clock.fast_forward(6000)
    expect(line).to_have_text("Searching…")
    page.evaluate(COME_BACK)
    slow.wait_for("resume")
    page.clock.fast_forward(5100)
    expect(line).to_have_text("Still searching…")


def test_stop_gives_a_question_that_was_never_sent_back_at_once(slow: ScriptedSocket) -> None:
    page = slow.page
    cut(slow)
    write(page)
    expect(page.locator(".question")).to_have_count(1)
    page.clock.fast_forward(500)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.get_by_role("button", name="Send")).to_be_enabled()
    expect(page.locator("#chat")).to_have_attribute("data-state", "idle")
    page.evaluate(COME_BACK)
    expect(page.locator("#chat")).not_to_have_attribute("data-away", "")
    page.get_by_label("Your question").press("Enter")
    slow.wait_for("ask")
    assert not slow.messages


def test_what_was_sent_before_the_connection_was_lost_is_stopped_when_it_is_back(
    slow: ScriptedSocket,
) -> None:
    page = slow.page
    write(page)
    ask = slow.wait_for("ask")
    cut(slow)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".status-text")).to_have_text("Stops as soon as the connection is back…")
    page.evaluate(COME_BACK)
    assert slow.wait_for("ask")["id"] == ask["id"]
    assert slow.wait_for("stop")["ask"] == ask["id"]
    expect(page.locator(".status-text")).to_have_text("Stopping…")


def test_a_silent_connection_is_noticed_in_mid_answer_and_made_anew(slow: ScriptedSocket) -> None:
    page = slow.page
    write(page)
    slow.begin(slow.wait_for("ask"))
    slow.send("token", text="one ")
    expect(page.locator(".prose")).to_have_text("one")
    first = slow.route
    slow.silent = True
    page.evaluate("window.Real = window.WebSocket; 0")
    page.evaluate(NO_SERVER)
    page.clock.fast_forward(5000)
    page.clock.fast_forward(5000)
    page.clock.fast_forward(1000)
    notice(page, "Reconnecting to your answer…")
    # Neither is the handshake answered: it is given up, and tried again.
    page.evaluate("window.WebSocket = window.Real; Math.random = () => 0")
    page.clock.fast_forward(10_000)
    page.clock.fast_forward(10)
    assert slow.wait_for("resume") == {"type": "resume", "run": slow.run, "after": 2}
    assert slow.route is not first
    expect(page.locator(".connection")).to_be_hidden()
    slow.send("token", text="two")
    expect(page.locator(".prose")).to_have_text("one two")


def test_a_connection_that_answers_is_kept_however_long_nothing_else_comes(
    slow: ScriptedSocket,
) -> None:
    page = slow.page
    write(page)
    slow.begin(slow.wait_for("ask"))
    first = slow.route
    for pings in range(1, 5):
        page.clock.fast_forward(5000)
        slow.wait_for_ping(pings)
        page.clock.fast_forward(2000)
    assert slow.route is first
    expect(page.locator("#chat")).not_to_have_attribute("data-away", "")


def test_without_a_question_a_connection_is_asked_seldom_and_on_hidden_pages_never(
    slow: ScriptedSocket,
) -> None:
    page = slow.page
    page.clock.fast_forward(29_000)
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert slow.pings == 0
    page.clock.fast_forward(1500)
    slow.wait_for_ping(1)
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => window.away })")
    page.evaluate("window.away = true")
    page.clock.fast_forward(60_000)
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert slow.pings == 1
    page.evaluate(f"window.away = false; {COME_BACK}")
    slow.wait_for_ping(2)


def test_that_the_network_is_gone_is_said_at_once(scripted: ScriptedSocket) -> None:
    page = scripted.page
    until(page, "() => document.querySelector('#composer[data-ready]')")
    write(page)
    scripted.begin(scripted.wait_for("ask"))
    expect(page.locator("#chat")).to_have_attribute("data-accepted", "")
    page.evaluate(NO_SERVER)
    away = "document.querySelector('#chat').hasAttribute('data-away')"
    assert page.evaluate(f"window.dispatchEvent(new Event('offline')); {away}")


@pytest.mark.parametrize("width", [1440, 320])
def test_the_notice_covers_nothing_and_moves_nothing(slow: ScriptedSocket, width: int) -> None:
    page = slow.page
    page.set_viewport_size({"width": width, "height": 700})
    write(page)
    slow.begin(slow.wait_for("ask"))
    before = page.locator(".question").bounding_box()
    cut(slow)
    notice(page, "Reconnecting to your answer…")
    box = page.locator(".connection").bounding_box()
    messages = page.locator("#messages").bounding_box()
    title = page.locator("#conversation-title").bounding_box()
    assert box and messages and title
    assert box["y"] + box["height"] <= messages["y"]
    assert title["x"] + title["width"] <= box["x"]
    assert box["x"] + box["width"] <= width
    assert page.locator(".question").bounding_box() == before
    screenshot(page, f"reconnecting-{width}")
