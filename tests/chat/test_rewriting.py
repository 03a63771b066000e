"""What is searched for in place of a question: the frames, the provider, and what is stored."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat import runs
from chat.answering import prefetch
from chat.client_messages import Ask, Prefetch
from chat.frames import Frame, SearchResults, Status, WarningFrame
from chat.models import Assistant, Conversation, Run, RunFrame
from retrieval import per_loop
from retrieval.database import in_thread
from retrieval.models import Chunk
from tests.chat.running import kinds, read
from tests.provider import Answer, Provider

pytestmark = pytest.mark.usefixtures("no_run_left")

FIRST = "How high is the tower of Lund?"
FOLLOW_UP = "who built it?"
ALONE = "Which materials did masons prefer for a tower?"
ANSWERED = ["search_results", "generating", "token", "grounding", "done"]
FOUND = ["searching", "reranking", *ANSWERED]


@pytest.fixture
async def configured(provider: Provider, settings: Settings) -> AsyncIterator[Provider]:
    """Point the OpenAI generator at the test suite's provider."""
    settings.ANSWER_THRESHOLD = 0
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {
            "BACKEND": "retrieval.backends.openai.OpenAIGenerator",
            "OPTIONS": {"model": "test", "base_url": provider.url, "api_key": "test"},
        },
    }
    provider.default = Answer(tokens=["Yes."])
    yield provider
    await per_loop.aclose()


@pytest.fixture
def quoting(settings: Settings) -> None:
    """Configure no generator that writes."""
    settings.ANSWER_THRESHOLD = 0
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {"BACKEND": "retrieval.backends.extractive.ExtractiveGenerator"},
    }


async def ask(user: User, text: str, **fields: Any) -> list[Frame]:
    return await read(user, await runs.start(user, Ask(type="ask", text=text, **fields)))


async def follow_up(user: User, text: str = FOLLOW_UP, **fields: Any) -> list[Frame]:
    """Ask a first question, then another in its conversation; return the frames of that."""
    await ask(user, FIRST)
    conversation = await Conversation.objects.alatest("created_at")
    return await ask(user, text, conversation=conversation.id, **fields)


def said(frames: list[Frame], stage: str = "rewriting") -> list[str]:
    """Return the messages of a stage."""
    return [each.message for each in frames if isinstance(each, Status) and each.stage == stage]


def query(frames: list[Frame]) -> str:
    """Return what was searched for."""
    return next(frame.query for frame in frames if isinstance(frame, SearchResults))


def written(frames: list[Frame]) -> list[dict[str, Any]]:
    """Return what the frames say was written."""
    found = [each.written for each in frames if isinstance(each, Status) and each.written]
    return [each.model_dump() for each in found]


def warnings(frames: list[Frame]) -> list[str]:
    return [frame.code for frame in frames if isinstance(frame, WarningFrame)]


async def test_a_follow_up_is_rewritten_and_that_is_searched_for(
    user: User, tower: Chunk, configured: Provider
) -> None:
    rewritten = "Who built the tower of Lund?"
    configured.script(Answer(tokens=["Yes."]), Answer(tokens=["Who built the ", "tower of Lund?"]))
    frames = await follow_up(user)
    assert kinds(frames) == ["queued", "rewriting", "rewriting", *FOUND]
    assert said(frames)[1] == said(frames, "searching")[0] == f"Searching for: {rewritten}"
    assert query(frames) == rewritten
    _, rewriting, answering = configured.requests
    assert rewriting.body["messages"][-1]["content"] == (
        f"User: {FIRST}\nAssistant: Yes.\nLast question: {FOLLOW_UP}\nRewritten:"
    )
    # The generator sees the person's own words.
    assert answering.body["messages"][-1]["content"].endswith(f"Question: {FOLLOW_UP}")
    run = await Run.objects.afirst()
    assert run is not None
    assert run.written == written(frames) == [{"kind": "question", "texts": [rewritten]}]
    assert run.usage == {"prompt_tokens": 14, "completion_tokens": 3}


async def test_a_reload_shows_the_same(user: User, tower: Chunk, configured: Provider) -> None:
    configured.script(Answer(tokens=["Yes."]), Answer(tokens=["Who built the tower?"]))
    frames = await follow_up(user)
    run = await Run.objects.afirst()
    assert run is not None
    assert await read(user, run) == frames
    stored = RunFrame.objects.filter(run=run, payload__stage="rewriting").order_by("seq")
    assert [frame.payload["message"] async for frame in stored] == said(frames)


@pytest.mark.parametrize("text", [FIRST, ALONE])
async def test_a_question_that_stands_by_itself_costs_nothing(
    user: User, tower: Chunk, configured: Provider, text: str
) -> None:
    frames = await follow_up(user, text)
    assert "rewriting" not in kinds(frames)
    assert query(frames) == text
    assert len(configured.requests) == 2


async def test_what_the_model_leaves_as_it_is_is_searched_for_as_it_is(
    user: User, tower: Chunk, configured: Provider
) -> None:
    configured.script(Answer(tokens=["Yes."]), Answer(tokens=["how wide is the tower"]))
    frames = await follow_up(user, "How wide is the tower?")
    assert kinds(frames) == ["queued", "rewriting", *FOUND]
    assert query(frames) == "How wide is the tower?"
    assert written(frames) == []


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=500),
        Answer(tokens=[]),
        Answer(tokens=["One.\nTwo."]),
        Answer(tokens=["word "] * 200),
        Answer(tokens=["Who"], stall_after=0),
        Answer(tokens=["Who"], drop_after=1),
    ],
)
async def test_a_model_that_fails_is_a_warning_and_the_words_are_carried(
    user: User, tower: Chunk, configured: Provider, settings: Settings, answer: Answer
) -> None:
    settings.REWRITE_TIMEOUT = 0.3
    configured.script(Answer(tokens=["Yes."]), answer)
    frames = await follow_up(user)
    assert kinds(frames) == ["queued", "rewriting", "warning", "rewriting", *FOUND]
    assert warnings(frames) == ["rewrite_failed"]
    assert query(frames) == "high tower Lund: who built it?"
    assert "secret" not in str(frames)


async def test_stop_closes_the_stream_of_the_rewriting(
    user: User, tower: Chunk, configured: Provider
) -> None:
    configured.script(Answer(tokens=["Yes."]), Answer(tokens=["Who"], stall_after=0))
    await ask(user, FIRST)
    conversation = await Conversation.objects.aget()
    run = await runs.start(user, Ask(type="ask", text=FOLLOW_UP, conversation=conversation.id))
    request = await configured.request(2)
    stopped = time.monotonic()
    await runs.stop(user, run.id)
    assert await request.wait_closed() - stopped < 1
    assert request.disconnected
    assert len(configured.requests) == 2


async def test_asking_again_uses_the_same_words(user: User, tower: Chunk, quoting: None) -> None:
    await follow_up(user)
    conversation = await Conversation.objects.aget()
    assert query(await ask(user, FOLLOW_UP, conversation=conversation.id)) == (
        "high tower Lund: who built it?"
    )


async def test_without_a_model_a_follow_up_carries_the_words(
    user: User, tower: Chunk, quoting: None
) -> None:
    frames = await follow_up(user)
    assert kinds(frames)[:4] == ["queued", "rewriting", "searching", "reranking"]
    assert said(frames) == ["Searching for: high tower Lund: who built it?"]
    assert "Anna Berg built the tower in 1931." in getattr(frames[-1], "answer", "")


async def test_each_follow_up_goes_on_with_the_one_before_it(
    user: User, tower: Chunk, quoting: None
) -> None:
    await ask(user, "How many people saw the tower in 2019?")
    conversation = await Conversation.objects.aget()
    for year in ("2020", "2021"):
        frames = await ask(user, f"and in {year}?", conversation=conversation.id)
        assert query(frames) == f"How many people saw the tower in {year}?"


async def test_it_can_be_turned_off(
    user: User, tower: Chunk, quoting: None, settings: Settings
) -> None:
    settings.REWRITE = False
    assert query(await follow_up(user)) == FOLLOW_UP


async def test_an_assistant_may_leave_questions_as_they_are(
    user: User, tower: Chunk, quoting: None
) -> None:
    await Assistant.objects.acreate(name="Literal", rewrites=False, is_default=True)
    assert query(await follow_up(user)) == FOLLOW_UP


async def test_a_follow_up_is_looked_ahead_for_where_no_model_is_needed(
    user: User, tower: Chunk, quoting: None
) -> None:
    await ask(user, FIRST)
    conversation = await Conversation.objects.aget()
    typed = Prefetch(type="prefetch", text=FOLLOW_UP, conversation=conversation.id)
    task = await runs.look_ahead(user, typed)
    assert task is not None
    await task
    frames = await ask(user, FOLLOW_UP, conversation=conversation.id)
    assert kinds(frames)[:3] == ["queued", "rewriting", "search_results"]
    assert said(frames) == ["Searching for: high tower Lund: who built it?"]


async def test_no_model_is_asked_for_what_is_only_typed(
    user: User, tower: Chunk, configured: Provider
) -> None:
    await ask(user, FIRST)
    conversation = await Conversation.objects.aget()
    before = set(prefetch._entries)
    hyde = {"search_strategy": "hyde"}
    for typed in (
        Prefetch(type="prefetch", text=FOLLOW_UP, conversation=conversation.id),
        Prefetch(type="prefetch", text=FIRST, settings=hyde),
    ):
        assert await runs.look_ahead(user, typed) is None
    assert len(configured.requests) == 1
    assert set(prefetch._entries) <= before


@pytest.mark.parametrize(
    ("strategy", "kind", "message"),
    [
        ("hyde", "passages", "Searching with 2 imagined passages…"),
        ("rag_fusion", "queries", "Searching in 2 other wordings…"),
    ],
)
async def test_a_strategy_shows_and_stores_what_was_written(  # noqa: PLR0917
    user: User, tower: Chunk, configured: Provider, strategy: str, kind: str, message: str
) -> None:
    configured.script(Answer(tokens=["1. The tower has 96 metres.\n", "2. It is tall."]))
    frames = await ask(user, FIRST, settings={"search_strategy": strategy})
    assert kinds(frames) == ["queued", "rewriting", "rewriting", *FOUND]
    assert said(frames)[1] == said(frames, "searching")[0] == message
    texts = ["The tower has 96 metres.", "It is tall."]
    assert written(frames) == [{"kind": kind, "texts": texts}]
    run = await Run.objects.aget()
    assert run.written == written(frames)
    assert run.usage == {"prompt_tokens": 14, "completion_tokens": 3}


async def test_a_strategy_that_fails_is_a_warning(
    user: User, tower: Chunk, configured: Provider
) -> None:
    configured.script(Answer(status=500))
    frames = await ask(user, FIRST, settings={"search_strategy": "rag_fusion"})
    assert kinds(frames) == ["queued", "rewriting", "warning", *FOUND]
    assert warnings(frames) == ["strategy_failed"]


async def test_a_strategy_without_a_model_is_a_warning(
    user: User, tower: Chunk, quoting: None
) -> None:
    frames = await ask(user, FIRST, settings={"search_strategy": "hyde"})
    assert kinds(frames)[:3] == ["queued", "warning", "searching"]
    assert warnings(frames) == ["strategy_unavailable"]


async def test_staff_see_what_was_searched_for(
    user: User, tower: Chunk, quoting: None, client: Client
) -> None:
    await follow_up(user)
    page = reverse(
        "admin:chat_conversation_change", args=[(await Run.objects.afirst()).conversation_id]
    )  # type: ignore[union-attr]

    def read_page() -> str:
        client.force_login(User.objects.create_superuser("root"))
        return client.get(page).content.decode()

    assert "high tower Lund: who built it?" in await in_thread(read_page)
