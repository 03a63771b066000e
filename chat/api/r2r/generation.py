"""R2R's generation config as our generation settings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from retrieval.backends.generation import GenerationSettingsError

NAMES = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "max_tokens_to_sample": "max_tokens",
}
# What would change what comes out: not to have it is better said than passed over.
NOT_HERE = ("tools", "functions", "response_format", "api_base", "add_generation_kwargs")


@dataclass(frozen=True)
class Wanted:
    """How an answer is written, by which model, and whether it is streamed."""

    settings: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    stream: bool = False


def translated(given: object) -> Wanted:
    """Return what a generation config says. Raises GenerationSettingsError that names the field."""
    if given is None:
        return Wanted()
    if not isinstance(given, dict):
        raise GenerationSettingsError("rag_generation_config", "must be an object")
    for name in NOT_HERE:
        if given.get(name):
            raise GenerationSettingsError(name, "is not available here")
    model = given.get("model")
    return Wanted(
        {ours: given[name] for name, ours in NAMES.items() if given.get(name) is not None},
        model=model if isinstance(model, str) else None,
        stream=given.get("stream") is True,
    )


def known(model: str | None, models: Collection[str]) -> str | None:
    """Return the one of `models` that is meant, with its provider before it or without.

    None, which is the assistant's own, stands for any other.
    """
    if model is None:
        return None
    names = (model, model.partition("/")[2])
    return next((name for name in names if name in models), None)
