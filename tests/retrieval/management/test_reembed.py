"""`manage.py reembed` and `manage.py index`: what they do, print, and how they exit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from pytest_django import Settings

from retrieval.ingestion import indexes
from retrieval.ingestion.uploads import add_document
from retrieval.ingestion.worker import work_off
from retrieval.models import Collection, EmbeddingSpace, SpaceState
from tests.provider import Answer, Provider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _documents(settings: Settings, tmp_path: Path, provider: Provider) -> Iterator[None]:
    """One document, embedded by the word embedder; another model is behind an API."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder", "OPTIONS": {}}
    }
    options = {"model": "text-embedding-3-small", "api_key": "k", "base_url": provider.url}
    entry = {"BACKEND": "retrieval.backends.openai.OpenAIEmbedder", "OPTIONS": options}
    settings.EMBEDDERS = settings.EMBEDDERS | {"openai": entry}
    collection = Collection.objects.create(name="Test")
    add_document(collection, "a.txt", ContentFile(b"Ducks swim.", "a.txt"))
    asyncio.run(work_off())
    yield
    for space in EmbeddingSpace.objects.all():
        indexes.drop_all(space)


def run(command: str, *args: str) -> dict[str, Any]:
    """Run a command; return its JSON."""
    output = StringIO()
    call_command(command, *args, json=True, stdout=output, stderr=StringIO())
    result: dict[str, Any] = json.loads(output.getvalue())
    return result


def states(result: dict[str, Any]) -> dict[str, str]:
    return {space["model"]: space["state"] for space in result["spaces"]}


def test_model_is_searched_when_waited_for() -> None:
    """`--wait` works until the new model's space is complete and searched."""
    result = run("reembed", "--model", "bge-m3", "--dimensions", "48", "--wait")
    assert states(result) == {"hash": "kept", "bge-m3": "active"}
    new = result["spaces"][1]
    assert (new["dimensions"], new["embedded"], new["chunks"]) == (48, 1, 1)
    assert new["indexed"]


def test_without_wait_it_is_queued() -> None:
    """The worker does the rest; `--status` shows how far it is, `--cancel` ends it."""
    assert states(run("reembed", "--model", "bge-m3"))["bge-m3"] == "filling"
    (row,) = [row for row in run("reembed", "--status")["spaces"] if row["model"] == "bge-m3"]
    assert (row["state"], row["embedded"], row["chunks"]) == ("filling", 0, 1)
    assert states(run("reembed", "--cancel"))["bge-m3"] == "kept"


def test_prefixes_and_dimensions_are_learnt_or_told(provider: Provider) -> None:
    """A model that is not known is asked for its dimensions; its prefixes can be told."""
    run("reembed", "--model", "mine", "--query-prefix", "Q: ", "--passage-prefix", "P: ", "--wait")
    space = EmbeddingSpace.objects.get(model="mine")
    assert space.dimensions == 64
    assert (space.query_prefix, space.passage_prefix) == ("Q: ", "P: ")
    assert provider.requests[-1].body["input"] == ["P: a\nDucks swim."]


def test_rollback_and_switch() -> None:
    """Back to what was searched before, and to a space that is named."""
    run("reembed", "--model", "bge-m3", "--dimensions", "48", "--wait")
    assert states(run("reembed", "--rollback")) == {"hash": "active", "bge-m3": "kept"}
    assert states(run("reembed", "--switch", "bge-m3"))["bge-m3"] == "active"


def test_delete() -> None:
    """A space that is not searched goes; the one that is stays."""
    run("reembed", "--model", "bge-m3", "--dimensions", "48", "--wait")
    run("reembed", "--rollback")
    assert states(run("reembed", "--delete", "bge-m3")) == {"hash": "active"}
    with pytest.raises(CommandError, match="it stays"):
        run("reembed", "--delete", "hash")


def test_refused_key_fails_the_command(provider: Provider) -> None:
    """With `--wait` it exits with the provider's reason, and the old model is searched."""
    provider.script(Answer(status=401))
    with pytest.raises(CommandError, match="refused the key"):
        run("reembed", "--model", "bge-m3", "--wait")
    assert EmbeddingSpace.objects.get(state=SpaceState.ACTIVE).model == "hash"


def test_nothing_to_roll_back_to() -> None:
    """It says so."""
    with pytest.raises(CommandError, match="No other space"):
        run("reembed", "--rollback")


def test_unknown_space_is_told_with_those_there_are() -> None:
    """A mistyped name gets a list."""
    with pytest.raises(CommandError, match="There is no embedding space x"):
        run("reembed", "--switch", "x")


def test_index_is_built_listed_and_dropped() -> None:
    """Each step says what it did and what is there."""
    built = run("index", "--measure", "l1_distance")
    assert built["index"]["status"] == "built"
    assert {index["measure"] for index in built["indexes"]} == {"cosine_distance", "l1_distance"}
    assert run("index", "--measure", "l1_distance")["index"]["status"] == "unchanged"
    assert run("index")["indexes"] == built["indexes"]
    dropped = run("index", "--measure", "l1_distance", "--drop")
    assert [index["measure"] for index in dropped["indexes"]] == ["cosine_distance"]
    with pytest.raises(CommandError, match="There is no index"):
        run("index", "--measure", "l1_distance", "--drop")


def test_index_that_pgvector_does_not_have() -> None:
    """There is no IVFFlat for this measure."""
    with pytest.raises(CommandError, match="no IVFFlat index for l1_distance"):
        run("index", "--measure", "l1_distance", "--method", "ivfflat")


def test_ivfflat_index() -> None:
    """Of another space, by its number."""
    space = EmbeddingSpace.objects.get()
    built = run(
        "index", "--measure", "hamming_distance", "--method", "ivfflat", "--space", str(space.pk)
    )
    assert built["index"]["name"] == f"embedding_space_{space.pk}_hamming_distance_ivfflat"
