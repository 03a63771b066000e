"""What is found out about an answer when it has ended comes to the page that shows it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Route, expect

from tests.browser.scripted import ScriptedSocket
from tests.browser.test_answer import ask, citation

FOUND = {"support": "unsupported", "page": 3, "quote": "It was near.", "place": None}


@pytest.mark.parametrize("ending", ["cancelled", "error"])
def test_a_verdict_that_comes_after_the_end_is_shown_without_a_jump(
    scripted: ScriptedSocket, ending: str
) -> None:
    page = ask(scripted)
    cited = citation("Far [1]", 1)
    stored = [cited]

    def answer(route: Route) -> None:
        data = json.dumps(stored)
        script = f'<script type="application/json">{data}</script>'
        foot = '<footer class="answer-foot"></footer>'
        route.fulfill(body=f'<article class="answer">{script}{foot}</article>')

    page.route("**/messages/*/", answer)
    scripted.send("token", text="Far [1]")
    scripted.send("citation", **cited)
    if ending == "error":
        error = {"code": "dropped", "message": "It broke off.", "retry_in_ms": 0, "ask": None}
        scripted.send("error", recoverable=True, **error)
    else:
        scripted.done("Far [1]", reason=ending)
    mark = page.locator(".cite")
    expect(mark).not_to_have_attribute("data-support", "unsupported")
    before = mark.bounding_box()
    stored[:] = [{**cited, **FOUND}]
    expect(mark).to_have_attribute("data-support", "unsupported", timeout=10_000)
    assert mark.bounding_box() == before
    mark.hover()
    expect(page.locator("#card")).to_contain_text("Not supported by the source")
