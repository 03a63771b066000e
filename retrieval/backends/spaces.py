"""From an embedder's settings to what its embedding space stores of them, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.utils.module_loading import import_string

from retrieval.backends.base import BackendError, EmbedderSpec
from retrieval.backends.remote import RemoteEmbedder

if TYPE_CHECKING:
    from retrieval.backends.base import Embedder

# Names of options that stay in the settings.
SECRET = re.compile(r"key|secret|password|credential|token$", re.IGNORECASE)


def describe(embedder: Embedder, config: Mapping[str, Any]) -> EmbedderSpec:
    """Return what a space stores of an embedder, made from an entry of the settings."""
    options = {
        name: value
        for name, value in config.get("OPTIONS", {}).items()
        if value and isinstance(value, (str, int, float)) and not SECRET.search(name)
    }
    return EmbedderSpec(
        embedder.model,
        embedder.dimensions,
        embedder.query_prefix,
        embedder.passage_prefix,
        config["BACKEND"],
        json.dumps(options, sort_keys=True),
    )


def fits(embedder: Embedder, spec: EmbedderSpec) -> bool:
    """Whether an embedder makes vectors of that space."""
    return (
        embedder.model == spec.model
        # 0: not learnt yet
        and embedder.dimensions in (0, spec.dimensions)
        and embedder.query_prefix == spec.query_prefix
        and embedder.passage_prefix == spec.passage_prefix
    )


def make(spec: EmbedderSpec) -> Embedder:
    """Make a space's embedder. Raises BackendError if what it needs is missing."""
    if not spec.backend:
        raise unusable(spec, "it is not known what served it")
    options: dict[str, Any] = json.loads(spec.options)
    try:
        kind = import_string(spec.backend)
    except ImportError as error:
        raise unusable(spec, "a package that it needs is not installed") from error
    if issubclass(kind, RemoteEmbedder):
        options |= {
            "model": spec.model,
            "dimensions": spec.dimensions,
            "query_prefix": spec.query_prefix,
            "passage_prefix": spec.passage_prefix,
        }
    secrets = secrets_of(spec.backend, options.get("base_url", ""))
    if issubclass(kind, RemoteEmbedder) and not (options.get("base_url") or any(secrets.values())):
        raise unusable(spec, "the key of its provider is not set")
    try:
        embedder = cast("Embedder", kind(**options, **secrets))
    except (TypeError, ValueError) as error:
        raise unusable(spec, "its class does not take what the space has stored") from error
    if not fits(embedder, spec):
        raise unusable(spec, "its class makes other vectors now")
    return embedder


def secrets_of(backend: str, base_url: str) -> dict[str, Any]:
    """Return the settings' secret options of a class, those for the server at `base_url` only."""
    for config in _configs():
        options = config.get("OPTIONS", {})
        # A key is for one server: another must not be sent it.
        if config["BACKEND"] == backend and (options.get("base_url") or "") == base_url:
            return {name: value for name, value in options.items() if SECRET.search(name)}
    return {}


def _configs() -> Iterator[Mapping[str, Any]]:
    """Yield the entries of all embedders that the settings can make, the configured one first."""
    yield settings.RAG_BACKENDS["embedder"]
    yield from settings.EMBEDDERS.values()


def unusable(spec: EmbedderSpec, reason: str) -> BackendError:
    """Return the error of a space that cannot be searched."""
    return BackendError(
        f"The embedding model {spec.model} of the documents cannot be used: {reason}.",
        retryable=False,
        code="bad_request",
    )
