"""Every page can be used by everyone: axe-core finds nothing against WCAG 2.2 AA."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Error, Page, expect

from retrieval.models import Collection
from tests import conversations
from tests.browser.addresses import of_objects, pages
from tests.browser.axe import violations
from tests.browser.conftest import PHONE, NewPage, until
from tests.browser.scripted import ScriptedSocket
from tests.doors.people import SUPERUSER, World, make_world

# Answers that are no page: nothing, a file, or what another page fetches.
NO_PAGE = re.compile("Download is starting|ERR_ABORTED|ERR_HTTP_RESPONSE_CODE")


@pytest.fixture
def world(transactional_db: None) -> World:
    return make_world()


@pytest.fixture
def forgiving(errors: list[str], new_page: NewPage) -> Any:
    """Let pages answer 403 and 404, as some do, and axe try a style, which the policy forbids.

    That the pages by themselves need none is what test_policy.py and every other test sees.
    """
    yield
    forgiven = ("Failed to load resource", "Applying inline style")
    errors[:] = [said for said in errors if not said.startswith(forgiven)]


def find_in(page: Page, addresses: list[str]) -> list[str]:
    """Return what axe finds on the pages among the addresses, each answered at least once."""
    found, seen = [], set()
    for address in addresses:
        try:
            response = page.goto(address)
        except Error as error:
            assert NO_PAGE.search(str(error)), error
            # This tab is still on its way to the browser's own page of the error.
            page = page.context.new_page()
            continue
        assert response
        once = (response.status, response.url if response.ok else "")
        if once in seen or not page.evaluate("document.doctype !== null"):
            continue
        seen.add(once)
        found += [f"{address} {line}" for line in violations(page)]
    assert len(seen) > len(addresses) / 2
    return found


@pytest.mark.usefixtures("forgiving")
def test_pages_of_signing_in_and_of_accounts(new_page: NewPage, ada: User, world: World) -> None:
    addresses = [address for address in pages() if address.startswith("/accounts/")]
    page = new_page()
    page.goto("/accounts/login/")
    assert not violations(page)
    page.get_by_label("Username or e-mail").fill("ada")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_be_visible()
    assert not violations(page)
    page.get_by_label("Password").fill("ada")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_be_visible()

    assert not find_in(page, addresses)


@pytest.mark.usefixtures("forgiving")
def test_pages_of_the_administration(new_page: NewPage, world: World) -> None:
    page = new_page(world.users[SUPERUSER])
    # The form of a new thing is that of one that is there.
    lists = [at for at in pages() if at.startswith("/admin/") and not at.endswith("/add/")]
    assistant = f"/admin/chat/assistant/{world.assistant.pk}/versions/"

    assert not find_in(page, [*lists, *of_objects(), assistant])


def test_the_chat_without_a_conversation_and_with_its_menus(new_page: NewPage, ada: User) -> None:
    conversations.document()
    Collection.objects.create(name="Papers")
    page = new_page(ada)
    page.goto("/")
    assert not violations(page)
    page.locator("#choice summary").click()
    expect(page.get_by_label("Papers")).to_be_visible()
    page.get_by_role("button", name="ada").click()
    expect(page.locator("#person-menu")).to_be_visible()
    assert not violations(page)


def test_the_chat_while_an_answer_comes_and_when_it_failed(scripted: ScriptedSocket) -> None:
    page = scripted.page
    page.get_by_label("Your question").fill("How far?")
    page.keyboard.press("Enter")
    scripted.begin(scripted.wait_for("ask"))
    expect(page.locator("#chat")).to_have_attribute("data-state", "searching")
    assert not violations(page)
    text = (
        "# Far\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> Quoted\n\n```js\nlet a = 'b'; // c\n```\n\n"
    )
    scripted.send("token", text=f"{text}See [more](https://example.org) and `x`.")
    expect(page.locator("#chat")).to_have_attribute("data-state", "streaming")
    assert not violations(page)
    scripted.send("error", code="provider_unavailable", message="Away.", recoverable=True)
    expect(page.locator("#chat")).to_have_attribute("data-state", "failed")
    assert not violations(page)


def test_an_answer_its_sources_and_the_panel(new_page: NewPage, ada: User) -> None:
    run = conversations.answered(ada)
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    mark = page.locator(".cite").first
    mark.hover()
    expect(page.locator("#card")).to_be_visible()
    assert not violations(page)
    mark.click()
    expect(page.locator("#panel mark")).to_be_visible()
    until(page, "document.getAnimations().every((a) => a.playState === 'finished')")
    assert not violations(page)
    page.get_by_role("button", name="Close the source").click()
    page.get_by_role("button", name="Not helpful").click()
    expect(page.locator(".feedback-form")).to_be_visible()
    page.get_by_text("Also found").click()
    page.get_by_role("button", name="Edit the question").click()
    expect(page.locator("#composer-changing")).to_be_visible()
    assert not violations(page)
    page.get_by_role("button", name="Delete How far").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert not violations(page)


def test_the_sheets_of_a_phone(new_page: NewPage, ada: User) -> None:
    run = conversations.answered(ada)
    page = new_page(ada, viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(f"/c/{run.conversation_id}/")
    page.get_by_role("button", name="Show conversations").click()
    expect(page.get_by_role("navigation", name="Conversations")).to_be_visible()
    assert not violations(page)
