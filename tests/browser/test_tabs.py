"""What is asked in another tab, in the conversation that this one shows."""

from __future__ import annotations

from django.contrib.auth.models import User
from playwright.sync_api import expect

from chat.models import Assistant
from tests import conversations
from tests.browser.conftest import NewPage
from tests.browser.scripted import ScriptedSocket


def test_it_is_shown_with_who_answers_it(new_page: NewPage, ada: User) -> None:
    """That may be another assistant than the conversation's."""
    own, other = (Assistant.objects.create(name=name) for name in ("Clerk", "Archivist"))
    run = conversations.answered(ada, "Who wrote?", assistant_version=other.record_version())
    run.conversation.assistant = own
    run.conversation.save()
    page = new_page(ada)
    scripted = ScriptedSocket(page)
    page.unroute("**/messages/*/")  # the server knows this answer
    page.goto(f"/c/{run.conversation_id}/")
    scripted.wait_for("watch")
    keys = {"conversation": run.conversation_id, "question": run.question_id}
    ids = {name: str(key) for name, key in (keys | {"answer": run.answer_id}).items()}
    scripted.begin({"id": "asked in the other tab"}, **ids)
    expect(page.locator(".answer")).to_have_count(2)
    expect(page.locator(".question-text").last).to_have_text("Who wrote?")
    expect(page.locator(".answer-name").last).to_have_text("Archivist")
    scripted.send("token", text="Anna.")
    expect(page.locator(".prose").last).to_have_text("Anna.")
