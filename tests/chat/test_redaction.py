"""What a person may no longer see is taken out of evidence, wherever it is shown again."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import DatabaseError, connections
from django.test import Client
from django.urls import reverse

from chat import quoting, redaction, runs
from chat.client_messages import Ask
from chat.frames import Citation, Done, Frame, SearchResults, Snapshot, Token
from chat.models import Citation as StoredCitation
from chat.models import Run, RunFrame, RunState
from retrieval.backends.base import QUOTING
from retrieval.models import Chunk, Collection, Document, Visibility
from tests.background import settled
from tests.fakes import ScriptedGenerator

SECRETS = ("The tower", "96 metres", "Anna Berg")
ANSWER = "Quite high [1]."
QUOTE = "The tower of Lund is 96 metres high [1]."


@pytest.fixture(autouse=True)
async def _quiet(transactional_db: None) -> AsyncIterator[None]:
    yield
    await settled()
    await sync_to_async(connections.close_all)()


async def answered(user: User, generator: ScriptedGenerator, answer: str = ANSWER) -> Run:
    """Ask, and wait for the whole answer."""
    generator.script = [answer]
    run = await runs.start(user, Ask(type="ask", text="How high is the tower?"))
    async for _ in runs.follow(user, run.id):
        pass
    await settled()
    return run


async def close_collection() -> None:
    await Collection.objects.aupdate(visibility=Visibility.RESTRICTED)


async def replayed(user: User, run: Run, after: int = 0) -> list[Frame]:
    return [frame async for frame in runs.follow(user, run.id, after)]


def assert_blank(frames: list[Frame]) -> None:
    """The numbers are there, and nothing of the documents."""
    shown = "".join(frame.to_json() for frame in frames)
    assert not any(secret in shown for secret in SECRETS)
    assert redaction.hidden_title() in shown


async def test_a_replay_has_the_answer_and_nothing_of_what_was_closed(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    run = await answered(user, generator)
    await close_collection()
    frames = await replayed(user, run)
    assert_blank(frames)
    assert isinstance(frames[-1], Done)
    assert (frames[-1].answer, frames[-1].citations[0].index) == (ANSWER, 1)


async def test_a_replay_from_behind_the_search_is_blank_too(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    run = await answered(user, generator)
    (found,) = [
        frame.seq for frame in await replayed(user, run) if isinstance(frame, SearchResults)
    ]
    await close_collection()
    frames = await replayed(user, run, found)
    assert any(isinstance(frame, Citation) for frame in frames)
    assert_blank(frames)


async def test_a_snapshot_is_blank_too(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    run = await answered(user, generator)
    await RunFrame.objects.all().adelete()
    await close_collection()
    frames = await replayed(user, run)
    assert isinstance(frames[0], Snapshot)
    assert_blank(frames)


async def test_what_is_still_seen_is_replayed_as_it_was(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    run = await answered(user, generator)
    first = await replayed(user, run)
    assert "96 metres" in "".join(frame.to_json() for frame in first)
    assert [frame.to_json() for frame in await replayed(user, run)] == [
        frame.to_json() for frame in first
    ]


async def test_while_nobody_can_say_evidence_is_hidden(
    user: User,
    tower: Chunk,
    generator: ScriptedGenerator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = await answered(user, generator)

    async def away(*_: object) -> set[str]:
        raise DatabaseError("made up")

    monkeypatch.setattr(redaction, "hidden_documents", away)
    assert_blank(await replayed(user, run))


async def test_pages_show_the_answer_and_nothing_of_what_was_closed(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    """The conversation, the answer, its sources, a citation, and a passage that was found."""
    run = await answered(user, generator)
    page = Client()
    await sync_to_async(page.force_login)(user)
    addresses = [
        reverse("chat:conversation", args=[run.conversation_id]),
        reverse("chat:message", args=[run.answer_id]),
        reverse("chat:sources", args=[run.answer_id]),
        reverse("chat:citation", args=[run.answer_id, 0]),
        reverse("chat:source", args=[run.answer_id, 1]),
    ]

    async def shown(address: str) -> str:
        response = await sync_to_async(page.get)(address)
        assert response.status_code == 200
        return str(response.content.decode())

    for address in addresses:
        assert "The tower" in await shown(address)
    await close_collection()
    for address in addresses:
        html = await shown(address)
        assert not any(secret in html for secret in SECRETS), address
    assert ANSWER in await shown(addresses[0])


async def test_the_quote_of_a_document_that_was_deleted_stays(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    """It is nobody's any more, and the answer keeps what it rested on."""
    run = await answered(user, generator)
    await Document.with_deleted.all().adelete()
    assert "96 metres" in "".join(frame.to_json() for frame in await replayed(user, run))


@pytest.fixture
def quoter(generator: ScriptedGenerator) -> ScriptedGenerator:
    """Make the generator one that says nothing but what documents say."""
    generator.model, generator.quotes_only = QUOTING, True
    return generator


def words(frames: list[Frame]) -> str:
    return "".join(frame.text for frame in frames if isinstance(frame, Token))


async def test_an_answer_that_only_quotes_gives_way_in_a_replay(
    user: User, tower: Chunk, quoter: ScriptedGenerator
) -> None:
    run = await answered(user, quoter, QUOTE)
    assert words(await replayed(user, run)) == QUOTE
    await close_collection()
    frames = await replayed(user, run)
    assert_blank(frames)
    assert isinstance(frames[-1], Done)
    assert words(frames) == frames[-1].answer == quoting.hidden_answer()


async def test_an_answer_that_only_quotes_gives_way_in_a_snapshot(
    user: User, tower: Chunk, quoter: ScriptedGenerator
) -> None:
    run = await answered(user, quoter, QUOTE)
    await RunFrame.objects.all().adelete()
    await close_collection()
    frames = await replayed(user, run)
    assert isinstance(frames[0], Snapshot)
    assert frames[0].text == quoting.hidden_answer()
    assert_blank(frames)


async def test_a_replay_that_goes_on_behind_the_search_tells_no_more_of_a_quotation(
    user: User, tower: Chunk, quoter: ScriptedGenerator
) -> None:
    run = await answered(user, quoter, QUOTE)
    first = next(frame.seq for frame in await replayed(user, run) if isinstance(frame, Token))
    await close_collection()
    assert_blank(await replayed(user, run, first - 1))


async def test_while_nobody_can_say_a_quotation_is_hidden(
    user: User, tower: Chunk, quoter: ScriptedGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await answered(user, quoter, QUOTE)

    async def away(*_: object) -> set[str]:
        raise DatabaseError("made up")

    monkeypatch.setattr(redaction, "hidden_documents", away)
    assert_blank(await replayed(user, run))


@pytest.mark.parametrize("model", ["", "some-model"])
async def test_pages_show_nothing_of_an_answer_that_only_quotes(
    user: User, tower: Chunk, quoter: ScriptedGenerator, model: str
) -> None:
    """Nor if its run was interrupted before it could say who wrote, and before it cited."""
    run = await answered(user, quoter, QUOTE)
    page = Client()
    await sync_to_async(page.force_login)(user)
    addresses = [
        reverse("chat:conversation", args=[run.conversation_id]),
        reverse("chat:message", args=[run.answer_id]),
    ]
    for interrupted in (False, True):
        if interrupted:
            await Run.objects.aupdate(state=RunState.INTERRUPTED, model=model)
            await StoredCitation.objects.all().adelete()
        await Collection.objects.aupdate(visibility=Visibility.SIGNED_IN)
        for address in addresses:
            response = await sync_to_async(page.get)(address)
            assert "96 metres" in response.content.decode()
        await close_collection()
        for address in addresses:
            html = (await sync_to_async(page.get)(address)).content.decode()
            assert not any(secret in html for secret in SECRETS), address
            assert quoting.hidden_answer() in html


async def test_a_generator_that_only_quotes_is_named_whatever_model_was_asked_for(
    user: User, tower: Chunk, quoter: ScriptedGenerator
) -> None:
    await sync_to_async(User.objects.update)(is_superuser=True)
    quoter.script = [QUOTE]
    run = await runs.start(user, Ask(type="ask", text="How high is the tower?", model="other"))
    async for _ in runs.follow(user, run.id):
        pass
    await settled()
    assert (await Run.objects.aget()).model == QUOTING
