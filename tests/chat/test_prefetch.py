"""What is being typed is searched for ahead, and used only while it is true."""

from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone
from pytest_django import Settings

from chat import runs
from chat.answering import prefetch
from chat.client_messages import Ask, Prefetch
from chat.frames import Frame
from retrieval.models import Chunk, Collection, Document, DocumentVersion, Stage, Visibility
from tests.background import settled
from tests.fakes import ScriptedGenerator

TEXT = "How high is the tower?"
LOOKED_AHEAD = ["queued", "search_results", "generating", "token", "grounding", "done"]


@pytest.fixture(autouse=True)
async def _nothing_kept(transactional_db: None) -> AsyncIterator[None]:
    prefetch._entries.clear()
    yield
    await settled()
    await sync_to_async(connections.close_all)()


async def type_ahead(user: User, text: str = TEXT) -> None:
    task = await runs.look_ahead(user, Prefetch(type="prefetch", text=text))
    if task is not None:
        await task


async def stages(user: User, text: str = TEXT) -> list[str]:
    """Ask, and return the frames' types, a status as its stage."""
    run = await runs.start(user, Ask(type="ask", text=text))
    frames: list[Frame] = [frame async for frame in runs.follow(user, run.id)]
    return [getattr(frame, "stage", frame.type) for frame in frames]


async def test_an_answer_to_what_was_typed_begins_at_generation(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m."]
    await type_ahead(user)
    assert await stages(user) == LOOKED_AHEAD


async def test_a_search_under_way_is_waited_for(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m."]
    await runs.look_ahead(user, Prefetch(type="prefetch", text=TEXT))
    assert await stages(user) == LOOKED_AHEAD


async def test_another_question_is_searched_for(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m."]
    await type_ahead(user, "How high is the tow")
    assert "searching" in await stages(user)


async def test_what_another_person_typed_is_not_used(
    user: User, other: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m."]
    await type_ahead(other)
    assert "searching" in await stages(user)


async def test_it_is_not_used_once_the_right_to_see_it_is_gone(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    await type_ahead(user)
    await Collection.objects.aupdate(visibility=Visibility.RESTRICTED)
    assert await stages(user) == ["queued", "searching", "search_results", "token", "done"]


async def test_it_is_not_used_once_a_document_is_disabled(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    await type_ahead(user)
    await Document.objects.aupdate(enabled=False)
    assert "generating" not in await stages(user)


async def test_it_is_not_used_once_something_new_can_be_searched(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m."]
    await type_ahead(user)
    await DocumentVersion.objects.filter(stage=Stage.READY).aupdate(finished_at=timezone.now())
    assert "searching" in await stages(user)


async def test_it_is_used_once(user: User, tower: Chunk, generator: ScriptedGenerator) -> None:
    generator.script = ["96 m."]
    await type_ahead(user)
    await stages(user)
    assert "searching" in await stages(user)


async def test_it_can_be_turned_off(
    user: User, tower: Chunk, generator: ScriptedGenerator, settings: Settings
) -> None:
    settings.PREFETCH = False
    generator.script = ["96 m."]
    await type_ahead(user)
    assert "searching" in await stages(user)
    assert not prefetch._entries


async def test_old_entries_make_room(
    user: User, tower: Chunk, generator: ScriptedGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefetch, "MOST", 2)
    for number in range(4):
        await type_ahead(user, f"{TEXT} {number}")
    assert len(prefetch._entries) == 2
