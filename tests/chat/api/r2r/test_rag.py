"""Answers to what the R2R SDK asks: whole, streamed, failed, and left."""

import asyncio
import json
import socket
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.chat.api.conftest import ANSWER, Live
from tests.chat.api.r2r import sdk
from tests.servers import wait_until

QUESTION = "How high is the tower of Lund?"
STREAM = {"stream": True}


def names(events: list[Any]) -> list[str]:
    return [type(each).__name__ for each in events]


def text_of(events: list[Any]) -> str:
    return "".join(
        piece.payload.value
        for each in events
        if isinstance(each, sdk.MessageEvent)
        for piece in each.data.delta.content
    )


def test_answer_comes_whole(live: Live, client: Any) -> None:
    answered = client.retrieval.rag(QUESTION).results
    assert answered.generated_answer == answered.completion == "".join(ANSWER)
    assert answered.search_results.chunk_search_results[0].metadata["title"] == "The tower of Lund"
    (citation,) = answered.citations
    span = citation.span
    assert answered.generated_answer[span.start_index : span.end_index] == f"[{citation.id}]"
    assert (citation.is_new, citation.source_type) == (True, "chunk")
    assert citation.payload["document_id"] == str(live.documents["tower.md"].pk)
    assert answered.metadata["finish_reason"] == "stop"


def test_answer_is_streamed(live: Live, client: Any) -> None:
    """In order, every event of the SDK's own class, with spans that fit the text."""
    live.say("The tower is 🗼 high [1]. ", "Very [1].")
    events = list(client.retrieval.rag(QUESTION, rag_generation_config=STREAM))
    found, *said, answer, done = events
    assert isinstance(found, sdk.SearchResultsEvent)
    assert set(names(said)) == {"MessageEvent", "CitationEvent"}
    assert isinstance(said[0], sdk.MessageEvent)
    assert isinstance(answer, sdk.FinalAnswerEvent)
    assert done is None
    text = "The tower is 🗼 high [1]. Very [1]."
    assert text_of(said) == answer.data.generated_answer == text
    cited = [each.data for each in said if isinstance(each, sdk.CitationEvent)]
    assert [text[each.span.start : each.span.end] for each in cited] == ["[1]", "[1]"]
    assert [(each.is_new, bool(each.payload)) for each in cited] == [(True, True), (False, False)]
    for position, each in enumerate(events):
        if isinstance(each, sdk.CitationEvent):
            assert each.data.span.end <= len(text_of(events[:position]))
    assert [(each.id, each.is_new) for each in answer.data.citations] == [("1", True), ("1", False)]


def test_no_character_breaks_a_stream(live: Live, client: Any) -> None:
    """The SDK's reader ends lines at all of these."""
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\r\ng\tdata: x\n\nevent: done\nünï🦆"
    live.say(text)
    events = list(client.retrieval.rag(QUESTION, rag_generation_config=STREAM))
    assert text_of(events) == events[-2].data.generated_answer
    assert text_of(events).replace("\r\n", "\n").split() == text.replace("\r\n", "\n").split()


def test_failure_is_told_in_the_stream(live: Live, client: Any) -> None:
    """The SDK raises nothing then; the stream ends as it should."""
    from retrieval.backends.base import BackendError  # noqa: PLC0415

    live.say("The tower", BackendError("It broke off.", retryable=False, code="dropped"))
    events = list(client.retrieval.rag(QUESTION, rag_generation_config=STREAM))
    error, done = events[-2:]
    assert (error.event, done) == ("error", None)
    assert error.data == {"message": "It broke off.", "error_type": "dropped"}


def test_failure_of_a_whole_answer_is_an_exception(live: Live, client: Any) -> None:
    from retrieval.backends.base import BackendError  # noqa: PLC0415

    live.say(BackendError("It may not be asked.", retryable=False, code="unauthorized"))
    with pytest.raises(sdk.R2RException) as failed:
        client.retrieval.rag(QUESTION)
    assert (failed.value.status_code, failed.value.message) == (502, "It may not be asked.")


def test_failure_of_a_whole_answer_says_what_failed(live: Live) -> None:
    """Statuses and names are the same as in the other dialects."""
    from retrieval.backends.base import BackendError  # noqa: PLC0415

    live.say(BackendError("It took too long.", retryable=False, code="timeout"))
    with live.client() as client:
        answer = client.post("/r2r/v3/retrieval/rag", json={"query": QUESTION})
    assert answer.status_code == 504
    assert answer.json() == {"detail": {"message": "It took too long.", "error_type": "timeout"}}


def test_leaving_stops_the_answer(live: Live, client: Any) -> None:
    """The provider's stream ends, as nobody can come back to it."""
    from chat.models import Run  # noqa: PLC0415

    live.say("The tower is 96 metres high, and ", live.gate(), "never said")
    live.generator.closed.clear()
    events = client.retrieval.rag(QUESTION, rag_generation_config=STREAM)
    while not isinstance(next(events), sdk.MessageEvent):
        pass
    run = Run.objects.filter(state="running").latest("created_at")
    del events
    live.site.run(asyncio.wait_for(live.generator.closed.wait(), 10))
    wait_until(lambda: Run.objects.filter(pk=run.pk, state="cancelled").exists(), "stopped")


def test_leaving_before_a_whole_answer_stops_it(live: Live) -> None:
    """There is nobody left to read it."""
    live.say("The tower is 96 metres high, and ", live.gate(), "never said")
    live.generator.closed.clear()
    asked = len(live.generator.requests)
    body = json.dumps({"query": QUESTION}).encode()
    head = (
        f"POST /r2r/v3/retrieval/rag HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {live.token}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", live.site.port)) as connection:
        connection.sendall(head.encode() + body)
        wait_until(lambda: len(live.generator.requests) > asked, "asked")
    live.site.run(asyncio.wait_for(live.generator.closed.wait(), 10))


def test_questions_are_not_listed_among_the_persons_own(live: Live, client: Any) -> None:
    """Each would be a conversation of one question."""
    client.retrieval.rag(QUESTION)
    assert client.conversations.list().results == []


def test_generation_config_says_how_to_write(live: Live, client: Any) -> None:
    """A model that the assistant does not have means its own."""
    config = sdk.GenerationConfig(model="openai/gpt-4.1", temperature=0.7, top_p=0.5, max_tokens=99)
    client.retrieval.rag(QUESTION, rag_generation_config=config)
    asked = live.generator.requests[-1]
    assert asked.model is None
    assert asked.settings.given() == {"temperature": 0.7, "top_p": 0.5, "max_tokens": 99}
    with pytest.raises(sdk.R2RException, match="temperature"):
        client.retrieval.rag(QUESTION, rag_generation_config={"temperature": 9})


def test_models_of_the_assistant_can_be_chosen(live: Live, client: Any) -> None:
    from chat.models import Assistant  # noqa: PLC0415

    assistant = Assistant.objects.create(name="Helper", allowed_models=["large"])
    try:
        client.retrieval.rag(QUESTION, rag_generation_config={"model": "vendor/large"})
        assert live.generator.requests[-1].model == "large"
    finally:
        assistant.delete()


def test_question_limits_hold_here(live: Live, connect: Any) -> None:
    """Whoever may ask no more is told so, and when."""
    from chat.accounts.models import Scope  # noqa: PLC0415
    from retrieval.limits.models import Limit  # noqa: PLC0415

    eve = User.objects.create_user("eve", password="eve")
    Limit.objects.create(user=eve, questions_a_minute=0)
    client = connect(live.make_token(eve, *Scope.values))
    with pytest.raises(sdk.R2RException) as refused:
        client.retrieval.rag(QUESTION)
    assert refused.value.status_code == 429
