"""What the tour's site holds, and the provider that writes its answers."""

# ruff: noqa: INP001 - a folder of pages

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from aiohttp import web
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from chat.accounts import tokens
from chat.models import Assistant, Conversation
from chat.models.assistants import Audience
from chat.models.feedback import Feedback
from docs import tour_answers
from docs.tour_answers import Asked
from retrieval.limits.models import Limit, Scope
from retrieval.models import Collection, Document
from tests.provider import Answer, Provider, Request

PASSAGE = re.compile(r'<passage number="(\d+)"[^>]*>(.*?)</passage>', re.DOTALL)
EARLIER = {
    "Tightening torque of the pedals": 1,
    "How often must the espresso machine be descaled?": 1,
    "Who may use a company bicycle privately?": 4,
    "Notice periods after probation": 5,
    "Hotel limits in the Netherlands": 12,
    "Öffnungszeiten der Bibliothek": 40,
}
SUGGESTED = [
    "How much leave do new parents get?",
    "What may a hotel in Graz cost?",
    "When must the espresso machine be descaled?",
    "Wie lange hat die Bibliothek geöffnet?",
]


class TourProvider(Provider):
    """Cites the passages that hold what it says; some answers fail or wait without an end."""

    async def _note(self, request: web.Request) -> tuple[Request, Answer]:
        noted, _ = await super()._note(request)
        prompt = "\n".join(str(message["content"]) for message in noted.body["messages"])
        asked = next((each for each in tour_answers.ALL if each.question in prompt), None)
        return noted, answer(asked, prompt) if asked else Answer()


def answer(asked: Asked, prompt: str) -> Answer:
    """Return the answer to a question, as its end is."""
    words = cited(asked.answer, prompt)
    if asked.ends == "failed":
        return Answer(tokens=words, fail_after=len(words))
    if asked.ends == "stopped":
        return Answer(tokens=words, stall_after=len(words))
    return Answer(tokens=words)


def cited(text: str, prompt: str) -> list[str]:
    """Return the words of a text, its citations by the numbers that the prompt gave passages."""
    passages = PASSAGE.findall(prompt)

    def number(words: re.Match[str]) -> str:
        found = next((number for number, passage in passages if words[1] in passage), "1")
        return f"[{found}]"

    return re.findall(r"\S+\s*", re.sub(r"\[\{([^}]+)\}\]", number, text))


@contextmanager
def provider() -> Iterator[str]:
    """Run the provider; return its address."""
    server = TourProvider()
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def people(password: str) -> None:
    """Make who looks after the site, with conversations of some weeks, and who only asks."""
    mira = User.objects.create_superuser("mira", "mira@larkfield.example", password)
    User.objects.create_user("jonas", "jonas@larkfield.example", password)
    for title, days in EARLIER.items():
        made = Conversation.objects.create(user=mira, title=title)
        moment = timezone.now() - timedelta(days=days)
        Conversation.objects.filter(pk=made.pk).update(created_at=moment, updated_at=moment)
    tokens.make(mira, "Nightly report", ["ask"])
    Limit.objects.create(scope=Scope.EVERYONE, tokens_a_day=100_000, questions_a_minute=30)


def assistants() -> None:
    """Make whom to ask: one for all documents and one for guests."""
    assistant = Assistant.objects.preferred().first() or Assistant(is_default=True)
    assistant.name = "Larkfield"
    assistant.greeting = "What would you like to know about Larkfield?"
    assistant.suggested_questions = SUGGESTED
    assistant.save()
    assistant.record_version()
    assistant.instructions = "Address readers informally. Give amounts in euros."
    assistant.save()
    assistant.record_version()
    kitchen = Assistant.objects.create(
        name="Kitchen",
        greeting="What is wrong with the machine?",
        suggested_questions=["Why does the ring blink orange?", "How do I descale it?"],
        visibility=Audience.PUBLIC,
    )
    kitchen.collections.add(Collection.objects.get(name="Machines"))


def places(conversations: dict[str, str]) -> dict[str, Any]:
    """Return the addresses that depend on what was made, beside those of the conversations."""
    key = conversations["leave"].rstrip("/").rsplit("/", 1)[-1]
    handbook = Document.objects.get(name__startswith="employee-handbook")
    broken = Document.objects.get(name__startswith="scanned")
    assistant = Assistant.objects.get(name="Larkfield").pk
    return {
        **conversations,
        "review": reverse("admin:chat_conversation_change", args=[key]),
        "document": reverse("admin:retrieval_document_change", args=[handbook.pk]),
        "broken": reverse("admin:retrieval_document_change", args=[broken.pk]),
        "assistant": reverse("admin:chat_assistant_change", args=[assistant]),
        "versions": f"/admin/chat/assistant/{assistant}/versions/",
    }


def forget_sessions() -> None:
    """Forget where people were signed in for the pictures before."""
    UserSession.objects.all().delete()


def forget(conversations: set[str]) -> None:
    """Put away what a picture was made with: what was asked, deleted or uploaded for it."""
    every = Conversation.with_deleted
    every.update(deleted_at=None, pinned_at=None)
    # Not deleted: an answer may still be on its way.
    every.exclude(title__in=EARLIER).exclude(pk__in=conversations).update(deleted_at=timezone.now())
    Feedback.objects.all().delete()
    Document.objects.filter(name__startswith="tour-").delete()
