"""Compounds, taken apart so that a Bibliotheksordnung is found by Ordnung and by Bibliothek."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

from retrieval import backends
from retrieval.text.folding import fold

# Languages that write compounds as one word.
LANGUAGES = frozenset({"da", "de", "et", "fi", "hu", "is", "nb", "nl", "nn", "no", "sv"})
# What stands between the parts: Bibliothek-s-ordnung, Blume-n-vase.
LINKS = ("", "s", "es", "n", "en", "er", "e")
# Shorter ones are too often only the beginning or the end of another word.
PART_MIN_CHARS = 5
# Where a part may begin with what links it to the one before (Monat-Sende), also a shorter one.
ALTERNATIVE_MIN_CHARS = 4
# Endings of a part that s links to the next one.
LINKED = ("ungs", "heits", "keits", "schafts", "tions", "tats")
# How a tokenizer of the SentencePiece kind writes that a word begins.
WORD_BEGINS = "▁"


@lru_cache(maxsize=50_000)
def parts(word: str) -> tuple[str, ...]:
    """Return the two words that a folded word is made of, none where it is no compound.

    Both stand whole in the vocabulary of the embedding model, which is where common words of all
    its languages are, or the first is a compound, too; without a vocabulary nothing is taken
    apart. Of several last parts the noun or the commonest is it: Ende of Monatsende, not Sende.
    """
    if len(word) < 2 * PART_MIN_CHARS or not word.isalpha():
        return ()
    ranks = vocabulary(backends.embedder().model)
    starts = [
        start
        for start in range(len(word) - ALTERNATIVE_MIN_CHARS, PART_MIN_CHARS - 1, -1)
        if word[start:] in ranks
    ]
    for known in (ranks.__contains__, parts):
        splits = [
            (first, word[start:])
            for start in starts
            if (first := next(filter(known, _firsts(word[:start])), ""))
        ]
        if any(len(last) >= PART_MIN_CHARS for _, last in splits):
            return min(splits, key=lambda split: ranks[split[1]])
    return ()


def _firsts(beginning: str) -> Iterator[str]:
    """Yield the beginning of a compound without what may link it to the next part."""
    for link in LINKS:
        first = beginning.removesuffix(link)
        if first + link == beginning and len(first) >= PART_MIN_CHARS:
            yield first


@cache
def vocabulary(model: str) -> dict[str, tuple[bool, int]]:
    """Return the words, folded, that stand whole in the vocabulary of the embedder's `model`.

    Each has its rank: those that are written with a capital, as German nouns are, are before the
    others, and the common ones before the rare.
    """
    tokenizer = backends.embedder().tokenizer
    if tokenizer is None:
        return {}
    pieces = tokenizer.get_vocab(with_added_tokens=False)
    ranks: dict[str, tuple[bool, int]] = {}
    for piece, rank in pieces.items():
        word = piece.removeprefix(WORD_BEGINS)
        if word != piece and len(word) >= ALTERNATIVE_MIN_CHARS and word.isalpha():
            folded, key = fold(word), (not word[0].isupper(), rank)
            ranks[folded] = min(key, ranks.get(folded, key))
    # What only stands there as it does within compounds: Versicherungs-.
    linked = {word[:-1]: key for word, key in ranks.items() if word.endswith(LINKED)}
    return linked | ranks
