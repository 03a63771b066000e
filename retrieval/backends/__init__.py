"""The configured embedder, reranker and generator.

Callers import this module and `retrieval.backends.base`, never a vendor's module.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from retrieval.backends.base import Embedder, Generator, Reranker

# Two threads that ask for the first time at once get the same backend.
_lock = threading.RLock()


def embedder() -> Embedder:
    """Return the configured embedder; every call returns the same one."""
    return cast("Embedder", _get("embedder"))


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


def _forget(*, setting: str, **_: Any) -> None:
    """Let tests that override RAG_BACKENDS get the backends they ask for."""
    if setting == "RAG_BACKENDS":
        _load.cache_clear()


setting_changed.connect(_forget)
