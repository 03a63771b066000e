"""What tests of runs do: ask, and read what comes."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from chat import runs
from chat.client_messages import Ask
from chat.frames import Frame
from chat.models import Run

QUESTION = "How high is the tower?"


def asking(text: str = QUESTION, **fields: Any) -> Ask:
    return Ask(type="ask", text=text, **fields)


async def read(user: User, run: Run, after: int = 0) -> list[Frame]:
    return [frame async for frame in runs.follow(user, run.id, after)]


def kinds(frames: list[Frame]) -> list[str]:
    """Return the frames' types, a status as its stage."""
    return [getattr(frame, "stage", frame.type) for frame in frames]


async def reload(run: Run) -> Run:
    return await Run.objects.select_related("answer", "question", "conversation").aget(id=run.id)
