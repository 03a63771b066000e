"""Runs in which something fails: what is told of it, and what is kept."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from chat import runs
from chat.frames import Done, Error, WarningFrame
from chat.models import Conversation, Message, Run, RunFrame, RunState
from retrieval import backends
from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.models import Chunk, EmbeddingSpace, SpaceState
from retrieval.search import SearchSettingsError
from tests.chat.running import asking, kinds, read, reload
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.usefixtures("no_run_left")


async def test_a_provider_that_fails_leaves_an_error_and_the_partial_answer(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Half", BackendError("It broke off.", True, code="dropped")]
    run = await runs.start(user, asking())
    error = (await read(user, run))[-1]
    assert isinstance(error, Error)
    assert (error.code, error.message, error.recoverable) == ("dropped", "It broke off.", True)
    stored = await reload(run)
    assert (stored.state, stored.error_code, stored.answer.text) == ("failed", "dropped", "Half")


async def test_settings_that_cannot_be_searched_by_are_told(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    field = "chunk_settings.index_measure"
    generator.script = [SearchSettingsError(field, "there is no index")]
    run = await runs.start(user, asking())
    error = (await read(user, run))[-1]
    assert isinstance(error, Error)
    assert (error.code, error.recoverable) == ("bad_settings", False)
    assert error.message == f"{field}: there is no index"


async def test_a_fault_of_ours_does_not_show_its_text(
    user: User, tower: Chunk, generator: ScriptedGenerator, caplog: pytest.LogCaptureFixture
) -> None:
    generator.script = ["Half", RuntimeError("secret detail")]
    run = await runs.start(user, asking())
    error = (await read(user, run))[-1]
    assert isinstance(error, Error)
    assert error.code == "internal"
    assert "secret" not in error.to_json()
    assert str(run.id) in caplog.text


async def test_an_empty_answer_is_an_error(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = [" \n"]
    error = (await read(user, await runs.start(user, asking())))[-1]
    assert isinstance(error, Error)
    assert error.code == "empty"


async def test_a_run_whose_process_is_gone_is_interrupted_for_its_readers(user: User) -> None:
    run = await in_thread(stored_run, user, "half an ans")
    frames = await read(user, run, after=7)
    assert kinds(frames) == ["snapshot", "error"]
    assert getattr(frames[0], "text", None) == "half an ans"
    assert (await reload(run)).state == RunState.INTERRUPTED


async def test_an_interrupted_run_does_not_block_its_conversation(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["Again."]
    old = await in_thread(stored_run, user, "half")
    run = await runs.start(user, asking(conversation=old.conversation_id))
    assert isinstance((await read(user, run))[-1], Done)


def stored_run(user: User, text: str) -> Run:
    """Store a run that another process worked on until it died."""
    from chat.models import Role  # noqa: PLC0415

    conversation = Conversation.objects.create(user=user, title="Old")
    run = Run.objects.create(
        conversation=conversation,
        user=user,
        question=Message.objects.create(conversation=conversation, role=Role.USER, text="?"),
        answer=Message.objects.create(conversation=conversation, role=Role.ASSISTANT, text=text),
        state=RunState.RUNNING,
        owner="gone",
        lease_expires_at=timezone.now() - timedelta(seconds=1),
    )
    RunFrame.objects.create(
        run=run, seq=1, payload={"type": "token", "text": text, "run": str(run.id), "seq": 1}
    )
    return run


@pytest.mark.parametrize(
    ("role", "backend", "code"),
    [
        ("embedder", "tests.fakes.FailingEmbedder", "search_degraded"),
        ("reranker", "tests.fakes.FailingReranker", "rerank_failed"),
    ],
)
async def test_a_stage_that_can_be_done_without_is_a_warning(  # noqa: PLR0917
    user: User,
    tower: Chunk,
    generator: ScriptedGenerator,
    settings: Settings,
    role: str,
    backend: str,
    code: str,
) -> None:
    await EmbeddingSpace.objects.acreate(model="hash", dimensions=256, state=SpaceState.ACTIVE)
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {role: {"BACKEND": backend}}
    scripted = backends.generator()
    assert isinstance(scripted, ScriptedGenerator)
    scripted.script = ["It is 96 m high [1]."]
    frames = await read(user, await runs.start(user, asking()))
    warnings = [frame for frame in frames if isinstance(frame, WarningFrame)]
    assert [warning.code for warning in warnings] == [code]
    assert "secret" not in warnings[0].message
    assert isinstance(frames[-1], Done)
