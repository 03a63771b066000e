"""Embedding spaces side by side: filling, switching, rolling back, deleting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from pytest_django import Settings

from retrieval import backends
from retrieval.backends import spaces as stored
from retrieval.backends.base import BackendError
from retrieval.checks import check_spaces
from retrieval.database import in_thread
from retrieval.ingestion import filling, indexes, spaces
from retrieval.ingestion.spaces import SpaceError
from retrieval.ingestion.tasks import begin_filling
from retrieval.ingestion.uploads import Upload
from retrieval.ingestion.worker import fill_spaces, work_off
from retrieval.models import Chunk, ChunkEmbedding, EmbeddingSpace, SpaceState
from retrieval.search import Scope, SearchSettings, analyse, holds_answer, rerank, retrieve, vector
from tests.provider import Answer, Provider

pytestmark = pytest.mark.django_db(transaction=True)

LONG = b"A sentence of many words that says little. " * 4000
Uploader = Callable[[str, bytes], Upload]
Run = Callable[[], None]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process sees a switch within KEPT_SECONDS; here there is no waiting for that."""
    monkeypatch.setattr(vector, "KEPT_SECONDS", 0.0)
    vector.forget()


@pytest.fixture
def remote(provider: Provider, settings: Settings) -> dict[str, Any]:
    """Another model, behind an API and with prefixes of its own, that the settings can make."""
    entry = {
        "BACKEND": "retrieval.backends.openai.OpenAIEmbedder",
        "OPTIONS": {
            "model": "nomic-embed-text",
            "api_key": "secret",
            "base_url": provider.url,
            "dimensions": 64,
        },
    }
    settings.EMBEDDERS = settings.EMBEDDERS | {"openai": entry}
    return entry


def configure(settings: Settings, entry: dict[str, Any]) -> None:
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {"embedder": entry}


def new_space(entry: dict[str, Any]) -> EmbeddingSpace:
    return spaces.space_of(backends.make(entry), entry)


def active() -> EmbeddingSpace:
    return EmbeddingSpace.objects.get(state=SpaceState.ACTIVE)


def inputs(provider: Provider) -> list[str]:
    return [text for request in provider.requests for text in request.body["input"]]


def search(text: str) -> list[str]:
    scope = Scope(User.objects.get_or_create(username="reader")[0])
    how = SearchSettings.parse({"search_mode": "basic"})
    found = asyncio.run(retrieve(analyse(text), scope, how))
    return [hit.text for hit in found.hits]


def test_secrets_are_not_stored(remote: dict[str, Any]) -> None:
    """The key stays in the settings, and the embedder can be made again from the space."""
    space = new_space(remote)
    assert space.options == {
        "model": "nomic-embed-text",
        "base_url": remote["OPTIONS"]["base_url"],
        "dimensions": 64,
    }
    made = spaces.embedder_of(space)
    assert (made.model, made.query_prefix) == ("nomic-embed-text", "search_query: ")
    assert spaces.embedder_of(space) is made


def test_new_space_is_filled_and_switched_to(
    upload: Uploader, run_worker: Run, remote: dict[str, Any], provider: Provider
) -> None:
    """All that is searched is embedded by the new model, with its prefixes, and then searched."""
    upload("a.txt", b"Ducks swim.")
    upload("b.txt", b"Pigeons fly.")
    run_worker()
    old = active()
    space = new_space(remote)
    assert begin_filling(space) is False
    assert active() == old
    assert search("ducks")[0] == "Ducks swim."
    assert inputs(provider) == []
    run_worker()
    assert active() == space
    assert active().indexed
    assert [index.valid for index in indexes.existing(space)] == [True]
    assert all(text.startswith("search_document: ") for text in inputs(provider))
    assert search("ducks")[0] == "Ducks swim."
    assert inputs(provider)[-1] == "search_query: ducks"
    assert provider.requests[-1].headers["Authorization"] == "Bearer secret"


def test_switch_is_seen_by_the_next_question(
    upload: Uploader, run_worker: Run, remote: dict[str, Any], provider: Provider
) -> None:
    """A question after a switch, and after the switch back, is embedded by the right model."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    old, space = active(), new_space(remote)
    begin_filling(space)
    run_worker()
    search("ducks")
    asked = len(provider.requests)
    assert begin_filling(old) is True
    meaning = asyncio.run(vector.embed("ducks"))
    assert meaning is not None
    assert (meaning.space.id, meaning.vector.shape) == (old.pk, (old.dimensions,))
    asked = len(provider.requests)
    asyncio.run(vector.embed("ducks"))
    assert len(provider.requests) == asked


def test_changed_settings_fill_their_space_once(
    upload: Uploader, run_worker: Run, remote: dict[str, Any], settings: Settings
) -> None:
    """The worker notices another model in the settings; what is rolled back by hand stays so."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    old = active()
    configure(settings, remote)
    assert search("ducks") == ["Ducks swim."]
    asyncio.run(fill_spaces())
    run_worker()
    assert active().model == "nomic-embed-text"
    previous = spaces.previous()
    assert previous == old
    begin_filling(old)
    asyncio.run(fill_spaces())
    run_worker()
    assert active() == old


def test_documents_that_come_meanwhile_are_in_both(
    upload: Uploader, run_worker: Run, remote: dict[str, Any]
) -> None:
    """A document that is uploaded while a space is filled has vectors in both."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    space = new_space(remote)
    spaces.begin(space)  # its filling is not queued
    version = upload("b.txt", b"Pigeons fly.").version
    run_worker()
    assert ChunkEmbedding.objects.filter(chunk__version=version).count() == 2
    assert spaces.progress(space) == spaces.Progress(1, 2)


def test_roll_back_fills_what_is_missing_first(
    upload: Uploader, run_worker: Run, remote: dict[str, Any]
) -> None:
    """What came after the switch is embedded by the old model before that is searched again."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    old, space = active(), new_space(remote)
    begin_filling(space)
    run_worker()
    upload("b.txt", b"Pigeons fly.")
    run_worker()
    assert begin_filling(old) is False
    assert active() == space
    run_worker()
    assert active() == old
    assert spaces.progress(old).complete


async def test_filling_goes_on_where_it_was_stopped(
    upload: Uploader, monkeypatch: pytest.MonkeyPatch, remote: dict[str, Any], provider: Provider
) -> None:
    """A slice that ends, or a worker that is killed, embeds nothing twice."""
    await in_thread(upload, "a.txt", LONG)
    await work_off()
    space = await in_thread(new_space, remote)
    await in_thread(spaces.begin, space)
    monkeypatch.setattr(filling, "SLICE_SECONDS", 0)
    assert await filling.fill(space) is False
    first = len(inputs(provider))
    assert 0 < first < await Chunk.objects.acount()
    while not await filling.fill(space):
        pass
    assert len(inputs(provider)) == await Chunk.objects.acount()
    assert await in_thread(active) == space


def test_waiting_documents_go_first(
    upload: Uploader, run_worker: Run, remote: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filling makes way for a document that was uploaded."""
    upload("a.txt", LONG)
    run_worker()
    space = new_space(remote)
    spaces.begin(space)
    upload("b.txt", b"Pigeons fly.")
    assert asyncio.run(filling.fill(space)) is False
    done = spaces.progress(space)
    assert 0 < done.embedded < done.total


def test_lasting_error_leaves_the_old_space(
    upload: Uploader, run_worker: Run, remote: dict[str, Any], provider: Provider
) -> None:
    """A provider that refuses ends the filling with its reason; it can be tried again."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    old, space = active(), new_space(remote)
    provider.script(Answer(status=401))
    begin_filling(space)
    run_worker()
    space.refresh_from_db()
    assert (space.state, space.error) == (SpaceState.FAILED, "The provider refused the key.")
    assert active() == old
    begin_filling(space)
    run_worker()
    assert active() == space
    assert active().error == ""


def test_one_space_is_active(upload: Uploader, run_worker: Run, remote: dict[str, Any]) -> None:
    """The database itself allows one space to be searched."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    space = new_space(remote)
    with pytest.raises(IntegrityError), transaction.atomic():
        EmbeddingSpace.objects.filter(pk=space.pk).update(state=SpaceState.ACTIVE)


def test_incomplete_space_is_not_switched_to(
    upload: Uploader, run_worker: Run, remote: dict[str, Any]
) -> None:
    """As long as a chunk lacks its vector the old space is searched."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    space = new_space(remote)
    spaces.begin(space)
    assert spaces.finish(space) is False
    assert active() != space


def test_small_window_is_refused(upload: Uploader, run_worker: Run, remote: dict[str, Any]) -> None:
    """A model that does not read the passages whole is not begun with, and the error says so."""
    upload("a.txt", LONG)
    run_worker()
    remote["OPTIONS"]["max_tokens"] = 50
    space = new_space(remote)
    with pytest.raises(SpaceError, match="nomic-embed-text reads 50 tokens"):
        begin_filling(space)
    space.refresh_from_db()
    assert space.state == SpaceState.KEPT


def test_deleting_takes_vectors_and_indexes(
    upload: Uploader, run_worker: Run, remote: dict[str, Any], settings: Settings
) -> None:
    """What is searched stays; another space goes with all it has."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    old, space = active(), new_space(remote)
    configure(settings, remote)
    asyncio.run(fill_spaces())
    run_worker()
    with pytest.raises(SpaceError, match="it stays"):
        spaces.delete(space)
    old.refresh_from_db()
    spaces.delete(old)
    assert list(EmbeddingSpace.objects.all()) == [space]
    assert not ChunkEmbedding.objects.exclude(space=space).exists()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE indexname LIKE %s",
            [f"embedding_space_{old.pk}_%"],
        )
        assert cursor.fetchall() == []


def test_space_without_its_key_says_so(
    upload: Uploader, run_worker: Run, remote: dict[str, Any], settings: Settings
) -> None:
    """A model whose key is gone is told; words are searched for all the same."""
    del remote["OPTIONS"]["base_url"]
    space = new_space(remote)
    settings.EMBEDDERS = {}
    with pytest.raises(BackendError, match="the key of its provider is not set"):
        spaces.embedder_of(space)


def test_check_names_a_space_that_cannot_be_used(
    upload: Uploader, run_worker: Run, settings: Settings
) -> None:
    """`check --database default` tells of a searched space whose model cannot be made."""
    upload("a.txt", b"Ducks swim.")
    run_worker()
    assert check_spaces(databases=["default"]) == []
    EmbeddingSpace.objects.update(backend="no.such.Class", model="gone")
    (message,) = check_spaces(databases=["default"])
    assert message.id == "retrieval.W002"
    assert "gone of the documents cannot be used" in message.msg
    assert check_spaces(databases=None) == []


def test_key_goes_to_its_own_server_only(remote: dict[str, Any], settings: Settings) -> None:
    """A space of another server is not sent the key of the present one."""
    space = new_space(remote)
    assert stored.secrets_of(space.backend, space.options["base_url"]) == {"api_key": "secret"}
    assert stored.secrets_of(space.backend, "http://127.0.0.1:1/v1") == {}


def test_reranker_knows_what_it_is_calibrated_for(
    upload: Uploader, run_worker: Run, remote: dict[str, Any], settings: Settings
) -> None:
    """With a model the local reranker was not calibrated for, no answer is refused."""
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {
        "reranker": {"BACKEND": "retrieval.backends.local_rerank.LocalReranker"}
    }
    upload("a.txt", b"Ducks swim.")
    run_worker()
    begin_filling(new_space(remote))
    run_worker()
    scope = Scope(User.objects.create_user("reader"))

    async def found() -> bool:
        query, how = analyse("What do zebras eat?"), SearchSettings()
        hits = (await retrieve(query, scope, how)).hits
        ranked = await rerank(query, hits, how)
        assert ranked
        return holds_answer(ranked)

    assert asyncio.run(found())
    reranker = backends.reranker()
    assert reranker is not None
    assert reranker.answer_threshold == 0.0


def test_existing_database_searches_its_fullest_space(db: None) -> None:
    """The migration makes the space of what is searched the active one, with its backend."""
    migrated = [("retrieval", "0003_spaces_side_by_side")]
    before = [("retrieval", "0002_versions_by_end")]
    executor = MigrationExecutor(connection)
    executor.migrate(before)
    try:
        old = executor.loader.project_state(before).apps.get_model("retrieval", "EmbeddingSpace")
        old.objects.create(model="multilingual-e5-small", dimensions=384, query_prefix="query: ")
    finally:
        MigrationExecutor(connection).migrate(migrated)
        call_command("migrate", verbosity=0)
    space = active()
    assert space.backend == "retrieval.backends.onnx.OnnxEmbedder"
    assert space.activated_at is not None
