"""What the tour's site holds, and the provider that writes its answers."""

# ruff: noqa: INP001 - a folder of pages

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from aiohttp import web
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from chat.models import Assistant, Conversation
from retrieval.limits.models import Limit, Scope
from retrieval.models import Collection, Document
from tests.provider import Answer, Provider, Request

PASSAGE = re.compile(r'<passage number="(\d+)"[^>]*>(.*?)</passage>', re.DOTALL)
UNFINISHED = "In Graz a hotel may cost up to **€125** a night [{€125}]; the daily allowance "
EARLIER = {
    "Tightening torque of the pedals": 1,
    "How often must the espresso machine be descaled?": 1,
    "Who may use a company bicycle privately?": 4,
    "Notice periods after probation": 5,
    "Hotel limits in the Netherlands": 12,
    "Öffnungszeiten der Bibliothek": 40,
}


class TourProvider(Provider):
    """Cites the passages that hold what it says; leaves the answer about hotels unfinished."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.answer = answer

    async def _note(self, request: web.Request) -> tuple[Request, Answer]:
        noted, _ = await super()._note(request)
        prompt = "\n".join(str(message["content"]) for message in noted.body["messages"])
        if "hotel in Graz" in prompt:
            tokens = cited(UNFINISHED, prompt)
            return noted, Answer(tokens=tokens, stall_after=len(tokens))
        return noted, Answer(tokens=cited(self.answer, prompt))


def cited(text: str, prompt: str) -> list[str]:
    """Return the words of a text, its citations by the numbers that the prompt gave passages."""
    passages = PASSAGE.findall(prompt)

    def number(words: re.Match[str]) -> str:
        return next((number for number, passage in passages if words[1] in passage), "1")

    return re.findall(r"\S+\s*", re.sub(r"\{([^}]+)\}", number, text))


@contextmanager
def provider(answer: str) -> Iterator[str]:
    """Run the provider; return its address."""
    server = TourProvider(answer)
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
    Collection.objects.create(name="Machines", description="Manuals")
    Limit.objects.create(scope=Scope.EVERYONE, tokens_a_day=100_000, questions_a_minute=10)
    Assistant.objects.create(name="Workshop", greeting="What is loose?")


def places(conversation: str) -> dict[str, Any]:
    """Return the addresses that depend on what was made."""
    key = conversation.rstrip("/").rsplit("/", 1)[-1]
    handbook = Document.objects.get(name__startswith="employee-handbook")
    return {
        "conversation": conversation,
        "review": reverse("admin:chat_conversation_change", args=[key]),
        "document": reverse("admin:retrieval_document_change", args=[handbook.pk]),
        "assistant": reverse(
            "admin:chat_assistant_change", args=[Assistant.objects.get(name="Workshop").pk]
        ),
    }
