"""Searching with the R2R SDK, who may, and what is not there."""

import asyncio
from typing import Any

import pytest
from django.core.files.base import ContentFile

from tests.chat.api.conftest import ANSWER, Live
from tests.chat.api.r2r import sdk

QUESTION = "How high is the tower of Lund?"
STREAM = {"stream": True}


def titles(found: Any) -> list[str]:
    return [each.metadata["title"] for each in found.results.chunk_search_results]


def test_search_finds_passages(live: Live, client: Any) -> None:
    """Whole, with whose they are, the best score first."""
    found = client.retrieval.search(QUESTION).results.chunk_search_results
    first, document = found[0], live.documents["tower.md"]
    assert first.document_id == document.pk
    assert first.collection_ids == [live.collection.pk]
    assert first.owner_id == client.users.me().results.id
    assert first.text.endswith("Anna Berg built it.")
    assert (first.metadata["title"], first.metadata["chunk_order"]) == ("The tower of Lund", 0)
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert str(first.id) == str(client.chunks.retrieve(first.id).results.id)


@pytest.mark.parametrize("mode", ["basic", "advanced", "custom"])
def test_modes_search(client: Any, mode: str) -> None:
    assert titles(client.retrieval.search(QUESTION, search_mode=mode))[0] == "The tower of Lund"


def test_whole_settings_of_the_sdk_search(client: Any) -> None:
    settings = sdk.SearchSettings(use_hybrid_search=True, limit=2, offset=1)
    assert len(titles(client.retrieval.search("tower bridge mill", search_settings=settings))) == 2


def test_results_can_be_without_scores_and_metadata(client: Any) -> None:
    settings = {"include_scores": False, "include_metadatas": False, "limit": 1}
    (found,) = client.retrieval.search(
        QUESTION, search_settings=settings
    ).results.chunk_search_results
    assert (found.score, found.metadata) == (None, {})


def test_filters_keep_documents(live: Live, client: Any) -> None:
    bridge = str(live.documents["bridge.md"].pk)
    for filters in (
        {"document_id": {"$eq": bridge}},
        {"document_id": bridge},
        {"$and": [{"title": {"$ne": "The tower of Lund"}}, {"name": {"$like": "bridge%"}}]},
        {"collection_ids": {"$overlap": [str(live.collection.pk)]}, "name": "bridge.md"},
        {"type": "text/markdown", "metadata.title": {"$contains": ["The bridge of Malmö"]}},
    ):
        found = client.retrieval.search(QUESTION, search_settings={"filters": filters})
        assert titles(found) == ["The bridge of Malmö"], filters


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"filters": {"year": {"$near": 2020}}}, "filters.metadata.year.$near"),
        ({"limit": -1}, "limit"),
        ({"chunk_settings": {"index_measure": "miles"}}, "chunk_settings.index_measure"),
    ],
)
def test_wrong_settings_are_told(client: Any, given: Any, field: str) -> None:
    for call in (client.retrieval.search, client.retrieval.rag):
        with pytest.raises(sdk.R2RException, match=field.replace("$", r"\$")) as refused:
            call(QUESTION, search_settings=given)
        assert refused.value.status_code == 422


def test_what_is_not_here_is_said_to_be(client: Any) -> None:
    """A refused stream keeps only its status."""
    with pytest.raises(sdk.R2RException, match="web is not available") as refused:
        client.retrieval.rag(QUESTION, include_web_search=True)
    assert refused.value.status_code == 501
    message = {"role": "user", "content": QUESTION}
    with pytest.raises(sdk.R2RException, match="Agents are not available") as refused:
        client.retrieval.agent(message=message)
    with pytest.raises(sdk.R2RException) as refused:
        list(client.retrieval.agent(message=message, rag_generation_config=STREAM))
    assert refused.value.status_code == 501
    with pytest.raises(sdk.R2RException, match="task_prompt"):
        client.retrieval.rag(QUESTION, task_prompt="Speak like a pirate.")
    for call in (client.graphs.list, client.prompts.list, client.indices.list):
        with pytest.raises(sdk.R2RException) as refused:
            call()
        assert refused.value.status_code == 404


@pytest.mark.parametrize("question", ["", "   ", None, 7, "x" * 20_001])
def test_questions_that_are_none_are_refused(client: Any, question: Any) -> None:
    for call in (client.retrieval.search, client.retrieval.rag):
        with pytest.raises(sdk.R2RException, match="query") as refused:
            call(question)
        assert refused.value.status_code == 422


def test_text_is_embedded(live: Live, client: Any) -> None:
    """From a form, as the SDK sends it, or from JSON."""
    vector = client.retrieval.embedding("The tower").results
    assert len(vector) == 256
    with live.client() as plain:
        answer = plain.post("/r2r/v3/retrieval/embedding", json={"text": "The tower"}).json()
    assert answer["results"] == vector
    with pytest.raises(sdk.R2RException, match="text"):
        client.retrieval.embedding("")


def test_nobody_finds_what_they_may_not_see(live: Live, client: Any, other: Any) -> None:
    """Not by a search, nor by a question, and not by the id."""
    from retrieval.ingestion.uploads import add_document  # noqa: PLC0415
    from retrieval.models import Collection, Visibility  # noqa: PLC0415

    secret = Collection.objects.create(name="Secret", visibility=Visibility.RESTRICTED)
    secret.managers.add(live.user)
    file = ContentFile(b"The vault of Lund holds 12 crowns.", "vault.txt")
    document = add_document(secret, "vault.txt", file, live.user).document
    live.ingest()
    query = "What does the vault of Lund hold?"
    assert titles(client.retrieval.search(query))[0] == "vault"
    assert "vault" not in titles(other.retrieval.search(query))
    answered = other.retrieval.rag(query).results.search_results.chunk_search_results
    assert document.pk not in [each.document_id for each in answered]
    (chunk,) = client.documents.list_chunks(document.pk).results
    with pytest.raises(sdk.R2RException, match="no such"):
        other.chunks.retrieve(chunk.id)
    assert chunk.id not in [each.id for each in other.chunks.list().results]
    for call in (other.documents.retrieve, other.documents.list_chunks, other.documents.download):
        with pytest.raises(sdk.R2RException) as refused:
            call(document.pk)
        assert refused.value.status_code == 404
    assert document.pk not in [each.id for each in other.documents.list().results]
    assert secret.pk not in [each.id for each in other.collections.list().results]
    document.delete()


def test_tokens_do_what_they_are_good_for(live: Live, connect: Any) -> None:
    searcher = connect(live.make_token(None, "search"))
    searcher.retrieval.search(QUESTION)
    for call in (searcher.retrieval.rag, lambda _: searcher.documents.list()):
        with pytest.raises(sdk.R2RException, match="lacks the scope") as refused:
            call(QUESTION)
        assert refused.value.status_code == 403
    with pytest.raises(sdk.R2RException, match="not in force") as refused:
        connect("rs_none").retrieval.search(QUESTION)
    assert refused.value.status_code == 401


def test_async_client_gets_whole_answers(live: Live) -> None:
    async def ask() -> Any:
        async with sdk.R2RAsyncClient(f"{live.base_url}/r2r", timeout=20) as client:
            client.set_api_key(live.token)
            found = await client.retrieval.search(QUESTION)
            answered = await client.retrieval.rag(QUESTION)
            listed = await client.documents.list()
            return found, answered, listed

    found, answered, listed = asyncio.run(ask())
    assert titles(found)[0] == "The tower of Lund"
    assert answered.results.generated_answer == "".join(ANSWER)
    assert listed.total_entries == 3
