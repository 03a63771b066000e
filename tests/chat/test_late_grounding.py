"""How an answer is grounded is stored with it, in time for its end or later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone
from prometheus_client import REGISTRY
from pytest_django import Settings

from chat import late_grounding, runs
from chat.client_messages import Ask
from chat.frames import Done, Frame, Grounding, Snapshot
from chat.models import Citation, Message, Run, RunFrame, RunState
from chat.runlog import RunLog
from chat.templatetags.conversations import citation_data
from retrieval.models import Chunk
from tests import conversations
from tests.background import settled
from tests.fakes import ScriptedGenerator

QUOTE = "The tower of Lund is 96 metres high."


@pytest.fixture(autouse=True)
async def _quiet(transactional_db: None) -> AsyncIterator[None]:
    yield
    await settled()
    await sync_to_async(connections.close_all)()


async def answered(user: User) -> list[Frame]:
    run = await runs.start(user, Ask(type="ask", text="How high is the tower?"))
    frames = [frame async for frame in runs.follow(user, run.id)]
    await settled()
    return frames


async def stored() -> tuple[str, str, str]:
    """Return the verdict on the only run, and the support and the quote of its citation."""
    citation = await Citation.objects.aget()
    return (await Run.objects.aget()).grounding, citation.support, citation.quote


async def test_a_frame_says_how_the_answer_is_grounded_and_it_is_stored(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["The tower of Lund is 96 metres high [1]."]
    *_, grounding, done = await answered(user)
    assert isinstance(grounding, Grounding)
    assert isinstance(done, Done)
    assert (grounding.verdict, grounding.citations[0].place) == ("grounded", (0, len(QUOTE)))
    assert (done.citations[0].support, done.citations[0].quote) == ("supported", QUOTE)
    assert await stored() == ("grounded", "supported", QUOTE)


async def test_what_takes_too_long_is_stored_later(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.GROUNDING_WAIT_SECONDS = 0.0
    generator.script = ["The tower of Lund is 69 metres high [1]."]
    before = late("ungrounded")
    frames = await answered(user)
    assert [frame.type for frame in frames[-2:]] == ["token", "done"]
    assert await stored() == ("ungrounded", "unsupported", QUOTE)
    assert late("ungrounded") == before + 1


def late(verdict: str) -> float:
    labels = {"verdict": verdict}
    return REGISTRY.get_sample_value("ragsite_late_groundings_total", labels) or 0.0


async def test_an_answer_that_was_stopped_is_checked_as_far_as_it_goes(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["The tower of Lund is 96 metres high [1]. ", asyncio.Event()]
    run = await runs.start(user, Ask(type="ask", text="How high is the tower?"))
    async for frame in runs.follow(user, run.id):
        if frame.type == "citation":
            await runs.stop(user, run.id)
    await settled()
    assert (await Run.objects.aget()).state == RunState.CANCELLED
    assert await stored() == ("grounded", "supported", QUOTE)


async def test_the_generators_verdict_is_stored_in_place_of_ours(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.GROUNDING_JUDGE = True
    generator.script = ["The tower of Lund is 96 metres high [1].\n1: no"]
    frames = await answered(user)
    assert isinstance(frames[-2], Grounding)
    assert frames[-2].citations[0].support == "supported"
    assert (await stored())[1] == "unsupported"


async def test_the_page_has_the_support_and_the_place_of_each_citation(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["The tower of Lund is 96 metres high [1]."]
    await answered(user)
    message = await Message.objects.prefetch_related("citations").aget(role="assistant")
    (shown,) = citation_data(message)
    assert (shown["support"], shown["place"]) == ("supported", (0, len(QUOTE)))


async def test_a_snapshot_has_them_too(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["The tower of Lund is 96 metres high [1]."]
    run = (await answered(user))[0].run
    await RunFrame.objects.all().adelete()
    assert run
    (snapshot, _) = [frame async for frame in runs.follow(user, run)]
    assert isinstance(snapshot, Snapshot)
    assert (snapshot.citations[0].support, snapshot.citations[0].place) == (
        "supported",
        (0, len(QUOTE)),
    )


async def test_a_process_that_ends_drops_what_takes_too_long() -> None:
    begun = asyncio.Event()

    async def forever() -> None:
        begun.set()
        await asyncio.Event().wait()

    late_grounding.store_later(RunLog(uuid4(), uuid4()), forever())
    await begun.wait()
    await late_grounding.settle(0.0)
    assert not late_grounding._tasks


@pytest.mark.parametrize(
    ("support", "judge", "seconds", "more"),
    [
        ("", False, 5, True),
        ("", False, 600, False),
        ("supported", False, 5, False),
        ("supported", True, 5, True),
        ("supported", True, 600, False),
    ],
)
def test_more_may_come_while_something_is_not_checked_and_can_still_be(
    user: User,
    generator: ScriptedGenerator,
    settings: Settings,
    *,
    support: str,
    judge: bool,
    seconds: int,
    more: bool,
) -> None:
    settings.GROUNDING_JUDGE = judge
    run = conversations.answered(user, finished_at=timezone.now() - timedelta(seconds=seconds))
    Citation.objects.update(support=support)
    assert late_grounding.may_come(run.answer) is more


def test_nothing_comes_to_what_cites_nothing_or_is_not_checked(
    user: User, settings: Settings
) -> None:
    run = conversations.answered(user, finished_at=timezone.now())
    assert late_grounding.may_come(run.answer)
    settings.GROUNDING = False
    assert not late_grounding.may_come(run.answer)
    settings.GROUNDING = True
    Citation.objects.all().delete()
    assert not late_grounding.may_come(run.answer)
