"""Answers from what the model knows, where an assistant allows them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.db.models import QuerySet
from pytest_django import Settings

from chat import runs, runstate
from chat.answering import pipeline
from chat.answering.prompts import NO_ANSWER
from chat.answering.question import Question
from chat.client_messages import Ask
from chat.frames import Done, Frame, SearchResults, Token, WarningFrame
from chat.models import Assistant, Run, RunFrame
from retrieval import search
from retrieval.backends.base import ChatMessage
from retrieval.database import in_thread
from retrieval.models import Chunk
from tests.background import settled
from tests.fakes import ScriptedGenerator

QUESTION = "How high is the tower?"


@pytest.fixture(autouse=True)
async def _closed(transactional_db: None) -> AsyncIterator[None]:
    """Close the connection of asgiref's thread, which ran this test's queries."""
    yield
    await settled()
    await sync_to_async(connections.close_all)()


async def frames_of(user: User, **fields: object) -> list[Frame]:
    """Return the frames of an answer."""
    question = Question(QUESTION, search.Scope(user), **{"without_sources": True, **fields})  # type: ignore[arg-type]
    return [frame async for frame in pipeline.answer(question)]


def ending(frames: list[Frame]) -> Done:
    assert isinstance(frames[-1], Done)
    return frames[-1]


def kinds(frames: list[Frame]) -> list[str]:
    return [getattr(frame, "code", frame.type) for frame in frames]


async def test_the_model_answers_where_nothing_is_found(
    user: User, generator: ScriptedGenerator
) -> None:
    generator.script = ["About 100 m."]
    frames = await frames_of(user)
    assert kinds(frames)[-5:] == ["status", "without_sources", "token", "grounding", "done"]
    done = ending(frames)
    assert (done.answer, done.finish_reason, done.without_sources) == ("About 100 m.", "stop", True)


async def test_its_prompt_says_that_there_are_no_passages(
    user: User, generator: ScriptedGenerator
) -> None:
    generator.script = ["Yes."]
    earlier = [ChatMessage("user", "Hi"), ChatMessage("assistant", "Hello [1].")]
    await frames_of(user, instructions="Be brief.", history=earlier, model="large")
    *_, request = generator.requests
    system, *turns = request.messages
    assert "no passages" in system.content
    assert "Never write numbers in square brackets" in system.content
    assert NO_ANSWER not in system.content
    assert system.content.endswith("Be brief.")
    assert [turn.content for turn in turns] == ["Hi", "Hello .", QUESTION]
    assert (request.model, request.passages) == ("large", ())


async def test_it_can_cite_nothing(user: User, generator: ScriptedGenerator) -> None:
    generator.script = ["It is 96 m high [1] [", "2]."]
    frames = await frames_of(user)
    assert "citation" not in kinds(frames)
    assert "[" not in ending(frames).answer
    assert ending(frames).citations == []


async def test_the_model_answers_where_the_passages_do_not(
    user: User, tower: Chunk, generator: ScriptedGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator.script = [NO_ANSWER]
    frames = await frames_of(user)
    assert len(generator.requests) == 2
    assert [bool(request.passages) for request in generator.requests] == [True, False]
    assert any(isinstance(frame, SearchResults) and frame.results for frame in frames)
    assert ending(frames).usage.prompt_tokens == 20
    assert "without_sources" in kinds(frames)


async def test_what_the_documents_answer_is_answered_from_them(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["96 m [1]."]
    frames = await frames_of(user)
    assert len(generator.requests) == 1
    assert "without_sources" not in kinds(frames)
    assert not ending(frames).without_sources


async def test_without_leave_nothing_is_made_up(user: User, generator: ScriptedGenerator) -> None:
    frames = await frames_of(user, without_sources=False)
    assert generator.requests == []
    assert (ending(frames).finish_reason, ending(frames).without_sources) == ("no_answer", False)


async def test_a_refusal_counts_what_the_model_took(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = [NO_ANSWER]
    done = ending(await frames_of(user, without_sources=False))
    assert (done.finish_reason, done.usage.prompt_tokens) == ("no_answer", 10)


async def test_a_generator_that_quotes_has_nothing_to_say(user: User, settings: Settings) -> None:
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {"BACKEND": "retrieval.backends.extractive.ExtractiveGenerator"},
    }
    assert ending(await frames_of(user)).finish_reason == "no_answer"


async def test_a_run_remembers_it_whatever_becomes_of_its_frames(
    user: User, generator: ScriptedGenerator
) -> None:
    generator.script = ["About 100 m."]
    await Assistant.objects.acreate(name="Sage", answers_without_sources=True)
    run = await runs.start(user, Ask(type="ask", text=QUESTION))
    frames = [frame async for frame in runs.follow(user, run.id)]
    (warning,) = (frame for frame in frames if isinstance(frame, WarningFrame))
    (token, *_) = (frame for frame in frames if isinstance(frame, Token))
    assert warning.seq < token.seq
    stored = await Run.objects.aget()
    assert stored.without_sources
    await all_frames().adelete()
    (_, done) = await in_thread(runstate.snapshot, stored)
    assert isinstance(done, Done)
    assert done.without_sources


def all_frames() -> QuerySet[RunFrame]:
    return RunFrame.objects.all()
