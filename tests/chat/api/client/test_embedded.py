"""The same without HTTP, in the process of the site."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from chat.client import (
    AsyncEmbeddedRagClient,
    BadRequestError,
    DocumentFailedError,
    EmbeddedRagClient,
    NotAllowedError,
    NotFoundError,
    RagClient,
    StreamEvent,
    UnavailableError,
)
from chat.models import Run, RunState
from tests.background import settled
from tests.chat.api.conftest import ANSWER, Live

QUESTION = "How high is the tower?"
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
def embedded(live: Live) -> Iterator[EmbeddedRagClient]:
    with EmbeddedRagClient(live.user) as made:
        yield made


@pytest.fixture
async def in_loop(live: Live) -> AsyncIterator[AsyncEmbeddedRagClient]:
    live.site.rest()
    async with AsyncEmbeddedRagClient(live.user) as made:
        yield made
    await settled()


def without_ids(value: Any, known: dict[str, str]) -> Any:
    """Return data with its ids numbered as they first occur, but for those of documents."""
    match value:
        case StreamEvent():
            return value.type, without_ids(value.data, known)
        case str() if ID.fullmatch(value):
            return known.setdefault(value, f"id {len(known)}")
        case list():
            return [without_ids(each, known) for each in value]
        case dict():
            return {key: without_ids(each, known) for key, each in value.items()}
    return value


def test_it_yields_the_same_events_as_over_http(
    client: RagClient, embedded: EmbeddedRagClient
) -> None:
    here, there = (
        [without_ids(event, known) for event in each.stream(QUESTION)]
        for each, known in ((embedded, {}), (client, {}))
    )
    assert here == there
    assert here[-1][0] == "end"


def test_it_finds_and_reads_the_same_as_over_http(
    client: RagClient, embedded: EmbeddedRagClient, live: Live
) -> None:
    thread = embedded.ask(QUESTION).thread_id
    assert embedded.conversation(thread) == client.conversation(thread)
    assert embedded.conversations() == client.conversations()
    settings = {"include_metadatas": True, "limit": 2}
    found = embedded.search("tower of Lund", settings=settings)
    assert found == client.search("tower of Lund", settings=settings)
    key = live.documents["tower.md"].pk
    assert embedded.document(key) == client.document(key)
    embedded.delete_conversation(thread)
    with pytest.raises(NotFoundError):
        client.conversation(thread)


def test_it_refuses_the_same_as_over_http(client: RagClient, embedded: EmbeddedRagClient) -> None:
    def refusal(each: Any, **options: Any) -> tuple[type[Exception], str, str, int]:
        with pytest.raises((BadRequestError, NotAllowedError, NotFoundError)) as caught:
            each.ask(**{"message": QUESTION, **options})
        error: Any = caught.value
        return type(error), error.code, error.message, error.status

    for options in (
        {"thread_id": uuid4()},
        {"collections": ["Nothing"]},
        {"model_name": "dearest"},
        {"settings": {"limit": -1}},
        {"assistant": "Nobody"},
    ):
        assert refusal(embedded, **options) == refusal(client, **options)
    with pytest.raises(BadRequestError, match="type a question"):
        embedded.ask(" ")
    with pytest.raises(NotFoundError):
        embedded.stop("none")


def test_uploads_are_read_here_where_no_worker_is(
    embedded: EmbeddedRagClient, live: Live, tmp_path: Path
) -> None:
    path = tmp_path / "lock.md"
    path.write_text("# The lock\n\nThe lock of Trollhättan has five gates.\n")
    document = embedded.upload(path, collection=str(live.collection.pk))
    assert document.state == "ready"
    assert "five gates" in embedded.search("The lock of Trollhättan has five gates")[0].text
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nthis is none")
    with pytest.raises(DocumentFailedError, match=r"broken\.pdf: "):
        embedded.upload(broken)


async def test_it_answers_in_the_loop_it_is_used_in(in_loop: AsyncEmbeddedRagClient) -> None:
    events = [event async for event in in_loop.stream(QUESTION)]
    assert events[-2].data["messages"][-1]["content"] == "".join(ANSWER)


async def test_leaving_a_stream_stops_its_answer(
    in_loop: AsyncEmbeddedRagClient, live: Live
) -> None:
    live.say(ANSWER[0], live.gate())
    events = in_loop.stream(QUESTION)
    async for event in events:
        if event.type == "messages-tuple":
            break
    await events.aclose()
    run = await Run.objects.order_by("-created_at").afirst()
    assert run
    assert run.state == RunState.CANCELLED


def test_a_process_that_answers_in_another_loop_is_told_so(
    client: RagClient, embedded: EmbeddedRagClient, live: Live
) -> None:
    live.say(ANSWER[0], live.gate())
    events = client.stream(QUESTION)
    next(events)
    with pytest.raises(UnavailableError, match="AsyncEmbeddedRagClient"):
        embedded.ask(QUESTION)
    events.close()  # type: ignore[attr-defined]
