"""An assistant is tried beside its form, as the form stands, and its versions are compared."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect

from chat.models import Assistant, Conversation
from retrieval.models import Collection
from tests.browser.conftest import PHONE, NewPage, screenshot
from tests.provider import Answer, Provider


@pytest.fixture
def archivist(transactional_db: None) -> Assistant:
    made = Assistant.objects.create(name="Archivist", instructions="Be brief.")
    made.record_version()
    return made


@pytest.fixture
def form(
    new_page: NewPage, ada: User, site_with_model: str, tower: object, archivist: Assistant
) -> Page:
    page = new_page(ada, base_url=site_with_model)
    page.goto(reverse("admin:chat_assistant_change", args=[archivist.pk]))
    return page


def ask(page: Page) -> None:
    page.locator("#try-question").fill("How high is the tower of Lund?")
    page.locator("#try-question").press("Enter")


def test_a_question_is_answered_as_the_form_stands(
    form: Page, model: Provider, archivist: Assistant
) -> None:
    model.script(Answer(["It is **96", " metres** high [1]."]))
    before = len(model.requests)
    form.locator("#id_instructions").fill("Be kind.")
    form.locator("#id_model").fill("large")
    ask(form)
    box = form.locator("#try")
    expect(box).to_have_attribute("data-state", "done")
    expect(box.locator(".prose strong")).to_have_text("96 metres")
    expect(box.locator(".try-query")).to_contain_text("in the prompt")
    expect(box.locator(".try-figures")).to_contain_text("stop")
    box.locator(".cite").click()
    expect(box.locator(".try-source[data-index='1'] .try-snippet").first).to_be_visible()
    screenshot(form, "assistant-tried")
    form.set_viewport_size(PHONE)
    box.evaluate("box => box.scrollIntoView()")
    screenshot(form, "assistant-tried-phone")
    body = model.requests[before].body
    assert body["model"] == "large"
    assert body["messages"][0]["content"].endswith("Be kind.")
    archivist.refresh_from_db()
    assert archivist.instructions == "Be brief."
    assert not Conversation.objects.exists()


def test_the_collections_of_the_form_are_searched(form: Page, model: Provider) -> None:
    Collection.objects.create(name="Empty")
    form.reload()
    form.locator("#id_collections_from").select_option(label="Empty")
    form.locator("#id_collections_add").click()
    expect(form.locator("#id_collections_to option")).to_have_text("Empty")
    ask(form)
    expect(form.locator("#try .try-query")).to_contain_text(" 0 passages found")
    expect(form.locator("#try .prose")).to_contain_text("The documents do not answer this.")


def test_stop_closes_the_provider_s_stream(form: Page, model: Provider) -> None:
    before = len(model.requests)
    model.hold()
    try:
        ask(form)
        request = model.wait_for_request(before + 1)
        form.locator("#try [data-stop]").click()
        request.closed.result(10)
    finally:
        model.resume()
    assert request.disconnected
    expect(form.locator("#try .try-status")).to_have_text("Stopped.")


def test_what_is_wrong_with_the_form_is_said_in_the_box(form: Page, errors: list[str]) -> None:
    form.locator("summary", has_text="Parameters of the model").click()
    form.locator("#id_temperature").fill("9")
    ask(form)
    expect(form.locator(".try-errors li")).to_have_text(
        "Temperature: Input should be less than or equal to 2."
    )
    screenshot(form, "assistant-wrong")
    # The browser notes an answer that is no success.
    assert "422" in errors.pop()


def test_versions_are_compared_line_by_line(form: Page, archivist: Assistant) -> None:
    archivist.instructions = "Be kind.\nBe long."
    archivist.generation = {"temperature": 0.2, "max_tokens": 400}
    archivist.save()
    archivist.record_version()
    form.get_by_role("link", name="Versions").click()
    expect(form.locator(".difference ins").first).to_have_text("Be kind.")
    expect(form.get_by_role("button", name="Restore version 1")).to_be_visible()
    screenshot(form, "assistant-versions")
    form.set_viewport_size(PHONE)
    screenshot(form, "assistant-versions-phone")
