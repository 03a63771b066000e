"""Between a question and its answer: what is said, stopping, and going on from what there is."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage, screenshot
from tests.browser.scripted import ScriptedSocket


def ask(scripted: ScriptedSocket, text: str = "How far?") -> Page:
    scripted.page.get_by_label("Your question").fill(text)
    scripted.page.keyboard.press("Enter")
    scripted.begin(scripted.wait_for("ask"))
    expect(scripted.page.locator("#chat")).to_have_attribute("data-state", "searching")
    return scripted.page


@pytest.fixture
def slow(new_page: NewPage, ada: User) -> ScriptedSocket:
    """Return a page whose clock the test can move on."""
    page = new_page(ada)
    page.clock.install()
    socket = ScriptedSocket(page)
    page.goto("/")
    return socket


def test_a_long_wait_says_what_it_is_for(slow: ScriptedSocket) -> None:
    page = ask(slow)
    line = page.locator(".status")
    slow.send("status", stage="generating", message="6 passages in 4 documents")
    expect(line).to_have_text("6 passages in 4 documents")
    page.clock.fast_forward(6000)
    expect(line).to_have_text("Waiting for the model’s first words…")
    page.clock.fast_forward(10_000)
    expect(line).to_contain_text("still waiting")
    slow.send("token", text="Far")
    expect(line).to_be_hidden()


def test_the_second_click_of_a_double_click_does_not_stop(slow: ScriptedSocket) -> None:
    page = slow.page
    page.get_by_label("Your question").fill("How far?")
    # Both within one task, however slow the machine is.
    page.evaluate(
        "document.querySelector('.send').click(); document.querySelector('.stop').click()"
    )
    slow.begin(slow.wait_for("ask"))
    page.clock.fast_forward(500)
    slow.send("token", text="Far")
    expect(page.locator("#chat")).to_have_attribute("data-state", "streaming")
    assert not [message for message in slow.messages if message["type"] == "stop"]
    page.get_by_role("button", name="Stop").click()
    assert slow.wait_for("stop")["run"] == slow.run


def test_escape_closes_the_topmost_layer_before_it_stops(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="Far [1].")
    fields = {"index": 1, "title": "T", "page": 1, "quote": "Seen.", "source": None}
    scripted.send("citation", **fields, span=[4, 7], is_new=True)
    passage = '<header class="panel-head"><h2 tabindex="-1">T</h2></header>'
    page.route("**/citations/0/", lambda route: route.fulfill(body=passage))
    page.locator(".cite").click()
    expect(page.locator("#panel")).to_be_visible()
    page.locator(".cite").hover()
    expect(page.locator("#card")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_be_hidden()
    expect(page.locator("#panel")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    assert not [message for message in scripted.messages if message["type"] == "stop"]
    page.keyboard.press("Escape")
    assert scripted.wait_for("stop")["run"] == scripted.run


@pytest.mark.parametrize("reason", ["cancelled", "length"])
def test_what_was_broken_off_can_be_continued_or_written_anew(
    scripted: ScriptedSocket, reason: str
) -> None:
    page = ask(scripted)
    scripted.send("token", text="Half an ans")
    scripted.done("Half an ans", reason=reason)
    notice = page.locator(f"[data-notice={reason}]")
    expect(page.locator(".prose")).to_have_text("Half an ans")
    screenshot(page, f"notice-{reason}")
    notice.get_by_role("button", name="Continue").click()
    message = scripted.wait_for("ask")
    assert message["text"] == "Continue: How far?"
    scripted.begin(message)
    scripted.send("token", text="wer.")
    scripted.done("wer.", reason=reason)
    # What is before the last question is not gone on with, and nothing is continued twice over.
    expect(page.get_by_role("button", name="Continue")).to_have_count(1)
    page.get_by_role("button", name="Continue").click()
    message = scripted.wait_for("ask")
    assert message["text"] == "Continue: How far?"
    scripted.begin(message)
    scripted.done("", reason=reason)
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)
    page.get_by_role("button", name="Regenerate").last.click()
    assert scripted.wait_for("ask")["text"] == "Continue: How far?"


def test_a_network_that_comes_back_is_used_at_once(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="one ")
    expect(page.locator(".prose")).to_have_text("one")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    assert scripted.wait_for("resume") == {"type": "resume", "run": scripted.run, "after": 2}
    scripted.send("token", text="two")
    expect(page.locator(".prose")).to_have_text("one two")
    expect(page.locator("#chat")).not_to_have_attribute("data-away", "")


def test_a_lost_connection_is_said_after_a_second_and_no_tab_waits_long(
    slow: ScriptedSocket,
) -> None:
    page = ask(slow)
    page.evaluate("Math.random = () => 5")  # nothing comes back by itself here
    assert slow.route is not None
    first = slow.route
    first.close(code=1012)
    expect(page.locator(".connection")).to_be_hidden()
    page.clock.fast_forward(1100)
    expect(page.locator(".connection")).to_have_text(
        "Reconnecting to your answer…", use_inner_text=True
    )
    assert slow.route is first
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert slow.wait_for("resume")["run"] == slow.run
    assert slow.route is not first
    expect(page.locator(".connection")).to_be_hidden()
