"""Counting the tokens of a prompt, as the generator's model counts them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

from retrieval import backends

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def count(text: str) -> int:
    """Return the number of tokens, by the tokenizer that CHAT_TOKENIZER names.

    Without one, by the embedding model's: those of large vocabularies differ by a few percent.
    """
    own = tokenizer()
    if own is None:
        return backends.embedder().count_tokens(text)
    return len(own.encode(text, add_special_tokens=False).ids)


def tokenizer() -> Tokenizer | None:
    """Return the generator's tokenizer, if there is one; raise what its library does if bad."""
    path = settings.CHAT_TOKENIZER
    return _read(path) if path else None


@cache
def _read(path: str) -> Tokenizer:
    from tokenizers import Tokenizer  # noqa: PLC0415 - slow to import, and seldom used

    return Tokenizer.from_file(path)
