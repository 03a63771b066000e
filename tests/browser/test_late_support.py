"""What is found out about an answer when it has ended comes to the page that shows it."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from chat.models import Citation
from tests import conversations
from tests.browser.conftest import NewPage
from tests.browser.scripted import ScriptedSocket
from tests.browser.test_answer import ask, citation

FOUND = {"support": "unsupported", "page": 3, "quote": "It was near.", "place": None}
ERROR = {"code": "dropped", "message": "It broke off.", "retry_in_ms": 0, "ask": None}


class Stored:
    """The answer as the server shows it, and how often it was asked for."""

    def __init__(self, page: Page, *citations: object) -> None:
        self.citations = [*citations]
        self.checking = True
        self.count = 0
        page.route("**/messages/*/", self.answer)

    def answer(self, route: Route) -> None:
        self.count += 1
        script = f'<script type="application/json">{json.dumps(self.citations)}</script>'
        checking = " data-checking" if self.checking else ""
        foot = f'<footer class="answer-foot"{checking}></footer>'
        route.fulfill(body=f'<article class="answer">{script}{foot}</article>')


@pytest.mark.parametrize("ending", ["cancelled", "error", "judged"])
def test_a_verdict_that_comes_after_the_end_is_shown_without_a_jump(
    scripted: ScriptedSocket, ending: str
) -> None:
    """Of an answer that was broken off there was none; a model judges those that there were."""
    page = ask(scripted)
    cited = citation("Far [1]", 1)
    stored = Stored(page, cited)
    scripted.send("token", text="Far [1]")
    scripted.send("citation", **cited)
    if ending == "error":
        scripted.send("error", recoverable=True, **ERROR)
    elif ending == "judged":
        before = {**FOUND, "citation": 0, "support": "supported"}
        scripted.send("grounding", verdict="grounded", citations=[before])
        scripted.done("Far [1]")
    else:
        scripted.done("Far [1]", reason=ending)
    mark = page.locator(".cite")
    expect(page.locator(".answer-foot")).to_be_attached()
    expect(mark).not_to_have_attribute("data-support", "unsupported")
    place = mark.bounding_box()
    stored.citations[:] = [{**cited, **FOUND}]
    expect(mark).to_have_attribute("data-support", "unsupported", timeout=10_000)
    assert mark.bounding_box() == place
    mark.hover()
    expect(page.locator("#card")).to_contain_text("Not supported by the source")


def test_what_is_settled_is_asked_for_no_more(new_page: NewPage, ada: User) -> None:
    page = new_page(ada)
    page.clock.install()
    scripted = ScriptedSocket(page)
    page.goto("/")
    ask(scripted)
    stored = Stored(page, citation("Far [1]", 1))
    scripted.send("token", text="Far [1]")
    scripted.send("citation", **citation("Far [1]", 1))
    scripted.done("Far [1]")
    with page.expect_response("**/messages/*/"):
        pass  # the foot, which says that more may come
    stored.checking = False
    with page.expect_response("**/messages/*/"):
        page.clock.run_for(1500)
    for _ in range(2):
        page.evaluate("fetch('/healthz').then((response) => response.text())")
        page.clock.run_for(60_000)
    assert stored.count == 2


def test_a_verdict_that_comes_after_a_reload_is_shown_too(new_page: NewPage, ada: User) -> None:
    run = conversations.answered(ada, finished_at=timezone.now())
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    mark = page.locator(".cite").first
    expect(mark).to_be_visible()
    Citation.objects.update(support="unsupported")
    expect(mark).to_have_attribute("data-support", "unsupported", timeout=10_000)
