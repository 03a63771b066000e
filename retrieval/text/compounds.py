"""Compounds, taken apart so that a Bibliotheksordnung is found by Ordnung and by Bibliothek."""

from __future__ import annotations

from functools import cache, lru_cache

from retrieval import backends
from retrieval.text.folding import fold

# Languages that write compounds as one word.
LANGUAGES = frozenset({"da", "de", "et", "fi", "hu", "is", "nb", "nl", "nn", "no", "sv"})
# What stands between the parts: Bibliothek-s-ordnung, Blume-n-vase.
LINKS = ("", "s", "es", "n", "en", "er", "e")
# Shorter ones are too often only the beginning or the end of another word.
PART_MIN_CHARS = 5
# How a tokenizer of the SentencePiece kind writes that a word begins.
WORD_BEGINS = "▁"


@lru_cache(maxsize=50_000)
def parts(word: str) -> tuple[str, ...]:
    """Return the two words that a folded word is made of, none where it is no compound.

    Both stand whole in the vocabulary of the embedding model, which is where common words of all
    its languages are; without a vocabulary nothing is taken apart.
    """
    if len(word) < 2 * PART_MIN_CHARS or not word.isalpha():
        return ()
    known = vocabulary(backends.embedder().model)
    for start in range(len(word) - PART_MIN_CHARS, PART_MIN_CHARS - 1, -1):
        if word[start:] not in known:
            continue
        for link in LINKS:
            first = word[:start].removesuffix(link)
            if first + link == word[:start] and len(first) >= PART_MIN_CHARS and first in known:
                return first, word[start:]
    return ()


@cache
def vocabulary(model: str) -> frozenset[str]:
    """Return the words, folded, that stand whole in the vocabulary of the embedder's `model`."""
    tokenizer = backends.embedder().tokenizer
    if tokenizer is None:
        return frozenset()
    words = (
        piece.removeprefix(WORD_BEGINS)
        for piece in tokenizer.get_vocab(with_added_tokens=False)
        if piece.startswith(WORD_BEGINS)
    )
    return frozenset(fold(word) for word in words if len(word) >= PART_MIN_CHARS and word.isalpha())
