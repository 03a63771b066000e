"""Answers without a language model: the sentences of the passages that fit the question best."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext

from retrieval import backends
from retrieval.backends.base import QUOTING, BackendError, Delta, Sentence

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Sequence

    from retrieval.backends.base import GenerationRequest, Passage, Query

logger = logging.getLogger(__name__)

EMBEDDED = 8  # sentences looked at for their meaning; about 100 ms on two cores
EMBEDDED_CHARS = 240
QUOTED_CHARS = 500
MOST = 4
# A further sentence is quoted if it comes this close to the best one.
CLOSE = 0.87
SAME_TERMS = 0.7
# Between these lie the cosines of what is unrelated and of a paraphrase: models of the E5 family
# use a narrow band.
E5_COSINES = (0.76, 0.92)
COSINES = (0.2, 0.7)
# Without a word in common, and less alike than this, nothing is quoted.
LEAST_ALIKE = 0.5

_marker = re.compile(r"[\[【［]([\s\d^,;、，–—-]*)[\]】］]")
_markup = re.compile(r"[\\`*\[\]<$|]|(?<!\w)_|_(?!\w)|~~|&(?=#?\w+;)")
_piece = re.compile(r"\s*\S{1,12}")


class ExtractiveGenerator:
    """Quotes one to four sentences, word by word like a model would write them."""

    model = QUOTING
    quotes_only = True

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        """Yield the quotations with their markers, or that there is nothing to quote."""
        chosen = await choose(request.question, request.passages)
        answer = compose(chosen) if chosen else gettext("The documents do not answer this.")
        for piece in _piece.findall(answer):
            yield Delta(text=piece)
            await asyncio.sleep(0)
        yield Delta(finish_reason="stop" if chosen else "no_answer")


@dataclass(frozen=True)
class Candidate:
    """A sentence that may be quoted; `passage` is the number it is cited by."""

    sentence: Sentence
    passage: int
    words: float  # the share of what the question asks about, 0 to 1
    place: float  # how good the passage is, and the sentence's place in it, 0 to 1
    alike: float = 0.0  # how near in meaning, 0 to 1

    @property
    def score(self) -> float:
        """How well it fits the question, 0 to 1."""
        return 0.5 * self.words + 0.35 * self.alike + 0.15 * self.place


async def choose(question: Query, passages: Sequence[Passage]) -> list[Candidate]:
    """Return the sentences to quote, in the order to quote them in."""
    # Taking passages apart takes a millisecond or two each.
    candidates = await asyncio.to_thread(score_words, question, passages)
    candidates.sort(key=_promise, reverse=True)
    promising = await score_meaning(question, candidates[:EMBEDDED])
    best_first = sorted(promising, key=lambda each: each.score, reverse=True)
    return arrange(pick(best_first, frozenset(question.terms)))


def _promise(candidate: Candidate) -> float:
    return 0.6 * candidate.words + 0.4 * candidate.place


def score_words(question: Query, passages: Sequence[Passage]) -> list[Candidate]:
    """Return every sentence with the share of the question's terms it has; rare ones weigh more."""
    found = [
        (rank, position, passage, sentence)
        for rank, passage in enumerate(passages)
        for position, sentence in enumerate(passage.sentences)
        if not _is_title(passage, sentence)
    ]
    common = Counter(term for *_, sentence in found for term in sentence.terms)
    weights = {
        term: math.log1p(len(found) / common[term]) for term in question.terms if common[term]
    }
    total = sum(weights.values()) or 1.0
    return [
        Candidate(
            sentence,
            passage.index,
            words=sum(weights[term] for term in weights if term in sentence.terms) / total,
            place=1 / (1 + 0.5 * rank + 0.05 * position),
        )
        for rank, position, passage, sentence in found
    ]


def _is_title(passage: Passage, sentence: Sentence) -> bool:
    """Whether a sentence asks or names something rather than saying it: a question, a heading."""
    line_so_far = passage.text[: sentence.start].rpartition("\n")[2]
    return sentence.text.rstrip().endswith(("?", "？", "؟")) or line_so_far.startswith("#")


async def score_meaning(question: Query, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with how near each is to the question in meaning.

    If the embedder fails the words alone have to do.
    """
    if not candidates:
        return []
    embedder = backends.embedder()
    sentences = [candidate.sentence.text[:EMBEDDED_CHARS] for candidate in candidates]
    try:
        asked = await embedder.embed_query(question.text)
        vectors = await embedder.embed_passages(sentences)
    except BackendError as exc:
        logger.warning("Quoting by words alone: %s", exc.message)
        return list(candidates)
    unrelated, alike = E5_COSINES if "e5" in embedder.model else COSINES
    nearness = ((vectors @ asked - unrelated) / (alike - unrelated)).clip(0, 1).tolist()
    return [
        replace(candidate, alike=near) for candidate, near in zip(candidates, nearness, strict=True)
    ]


def pick(best_first: Sequence[Candidate], asked: frozenset[str]) -> list[Candidate]:
    """Return the best, and what comes close to it or completes it, and says something else."""
    picked: list[Candidate] = []
    for candidate in best_first:
        if candidate.words == 0 and candidate.alike < LEAST_ALIKE:
            continue
        if picked and not (
            candidate.score >= CLOSE * picked[0].score or completes(candidate, picked, asked)
        ):
            continue
        if not any(_same(candidate.sentence, other.sentence) for other in picked):
            picked.append(candidate)
        if len(picked) == MOST:
            break
    return picked


def completes(candidate: Candidate, picked: Sequence[Candidate], asked: frozenset[str]) -> bool:
    """Whether a sentence of the best passage has a word of the question that is still missing.

    The row of a table, say, beside the row with its headings.
    """
    missing = asked.difference(*(each.sentence.terms for each in picked))
    return candidate.passage == picked[0].passage and not missing.isdisjoint(
        candidate.sentence.terms
    )


def _same(one: Sentence, other: Sentence) -> bool:
    if not one.terms or not other.terms:
        return one.text == other.text
    return len(one.terms & other.terms) / min(len(one.terms), len(other.terms)) > SAME_TERMS


def arrange(picked: Iterable[Candidate]) -> list[Candidate]:
    """Return the sentences passage by passage, the best passage first, as they stand in it."""
    by_passage: dict[int, list[Candidate]] = {}
    for candidate in picked:
        by_passage.setdefault(candidate.passage, []).append(candidate)
    return [
        candidate
        for group in by_passage.values()
        for candidate in sorted(group, key=lambda each: each.sentence.start)
    ]


def compose(chosen: Iterable[Candidate]) -> str:
    """Return the answer as Markdown: that it quotes, and each sentence with its marker."""
    quotes = [f"“{literal(each.sentence.text)}” [{each.passage}]" for each in chosen]
    return "\n\n".join([gettext("From your documents:"), *quotes])


def literal(text: str) -> str:
    """Return a sentence so that Markdown shows it as it is, and none of it reads as a marker."""
    text = " ".join(text.split())
    if len(text) > QUOTED_CHARS:
        text = text[:QUOTED_CHARS].rsplit(" ", 1)[0] + "…"
    text = _marker.sub(r"(\1)", text)
    return _markup.sub(lambda found: "\\" + found[0], text)
