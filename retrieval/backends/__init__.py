"""The configured embedder, reranker and generator.

Callers import this module and `retrieval.backends.base`, never a vendor's module.
"""

from __future__ import annotations

import threading
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from retrieval.backends import spaces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval.backends.base import Embedder, EmbedderSpec, Generator, Reranker

# Two threads that ask for the first time at once get the same backend.
_lock = threading.RLock()


def embedder() -> Embedder:
    """Return the configured embedder; every call returns the same one."""
    return cast("Embedder", _get("embedder"))


def embedder_of(spec: EmbedderSpec) -> Embedder:
    """Return the embedder of a space; every call returns the same one.

    Raises BackendError if it cannot be made: a package or a key is missing.
    """
    try:
        configured = embedder()
    except ImportError:  # the settings' own may be the one that lacks a package
        configured = None
    if configured is not None and spaces.fits(configured, spec):
        return configured
    with _lock:
        return _of_space(spec)


def describe(embedder: Embedder, config: Mapping[str, Any]) -> EmbedderSpec:
    """Return what a space stores of an embedder, made from an entry of the settings."""
    return spaces.describe(embedder, config)


def searched() -> Embedder:
    """Return the embedder of the space that this process searched last, or the configured one."""
    spec = _searched[-1] if _searched else None
    return embedder_of(spec) if spec else embedder()


def note_searched(spec: EmbedderSpec) -> None:
    """Remember which space questions are compared in: rerankers are calibrated for one model."""
    _searched.append(spec)


_searched: deque[EmbedderSpec] = deque(maxlen=1)


def make(config: Mapping[str, Any], **options: Any) -> Embedder:
    """Make an embedder from an entry of the settings, with these options instead of its own.

    Raises ImportError if its class cannot be imported.
    """
    kind = import_string(config["BACKEND"])
    return cast("Embedder", kind(**{**config.get("OPTIONS", {}), **options}))


def reranker() -> Reranker | None:
    """Return the configured reranker, or None when reranking is turned off."""
    return cast("Reranker | None", _get("reranker"))


def generator() -> Generator:
    """Return the configured generator; every call returns the same one."""
    return cast("Generator", _get("generator"))


def load_all() -> None:
    """Make every configured backend, so that nobody waits for what it imports."""
    for role in settings.RAG_BACKENDS:
        _get(role)


def _get(role: str) -> object:
    with _lock:
        return _load(role)


def fallback() -> Generator | None:
    """Return the generator that takes over when the first one fails, or None."""
    return cast("Generator | None", _load("fallback"))


@cache
def _load(role: str) -> object:
    """Make the backend of a role.

    Raises ImportError if its class cannot be imported: a package it needs may be missing.
    """
    config = settings.RAG_BACKENDS.get(role, {"BACKEND": None})
    if config["BACKEND"] is None:
        return None
    return import_string(config["BACKEND"])(**config.get("OPTIONS", {}))


@cache
def _of_space(spec: EmbedderSpec) -> Embedder:
    return spaces.make(spec)


def _forget(*, setting: str, **_: Any) -> None:
    """Let tests that override RAG_BACKENDS get the backends they ask for."""
    if setting in ("RAG_BACKENDS", "EMBEDDERS"):
        _load.cache_clear()
        _of_space.cache_clear()
        _searched.clear()


setting_changed.connect(_forget)
