"""What of a passage is shown, as the search settings want it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections

from chat import runs
from chat.client_messages import Ask
from chat.frames import Citation, SearchResults, Source
from retrieval.models import Chunk, Document, DocumentVersion
from tests.background import settled
from tests.fakes import ScriptedGenerator


@pytest.fixture(autouse=True)
async def _nothing_left(transactional_db: None) -> AsyncIterator[None]:
    yield
    await settled()
    await sync_to_async(connections.close_all)()


async def shown(user: User, generator: ScriptedGenerator, **settings: Any) -> list[Source]:
    """Return the passage as it was found, and as it was cited."""
    generator.script = ["96 m [1]."]
    ask = Ask(type="ask", text="How high is the tower?", settings=settings)
    run = await runs.start(user, ask)
    sources: list[Source] = []
    async for frame in runs.follow(user, run.id):
        if isinstance(frame, SearchResults):
            sources += frame.results
        elif isinstance(frame, Citation) and frame.source:
            sources.append(frame.source)
    return sources


async def test_scores_are_shown_and_metadata_is_not(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    """By default a passage has its scores, and no key for what was not asked for."""
    found, cited = await shown(user, generator)
    assert found.scores["fulltext"] > 0
    assert cited.scores == found.scores
    assert "metadata" not in found.model_dump()


async def test_scores_are_left_out(user: User, tower: Chunk, generator: ScriptedGenerator) -> None:
    """Without include_scores neither the list nor a citation has scores."""
    found, cited = await shown(user, generator, include_scores=False)
    assert found.scores == cited.scores == {}


async def test_metadata_is_the_documents(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    """With include_metadatas a passage has its document's metadata, people's over the file's."""
    await sync_to_async(DocumentVersion.objects.update)(metadata={"author": ["Ann"], "year": 1})
    await sync_to_async(Document.objects.update)(metadata={"year": 2})
    found, cited = await shown(user, generator, include_metadatas=True)
    assert found.metadata == cited.metadata == {"author": ["Ann"], "year": 2}


async def test_offset_leaves_the_best_out(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    """What is before the offset is not cited."""
    found = await shown(user, generator, offset=1)
    assert [source.index for source in found] == [None]
