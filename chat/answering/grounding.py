"""Which sentence of a cited passage supports what the answer says, and how well."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from chat.answering import meaning
from chat.answering.claims import Claim, Claims, claims_of
from chat.answering.support import Comparison, Evidence, Statement, Verdict, compare, quoted
from chat.frames import (
    CitationData,
    CitationSupport,
    Grounded,
    Grounding,
    SentenceSupport,
    Support,
)
from retrieval.backends.base import BackendError, Passage, Sentence
from retrieval.text import language as languages
from retrieval.text import sentences
from retrieval.text.terms import words

if TYPE_CHECKING:
    from chat.answering.citations import CitedAnswer

logger = logging.getLogger(__name__)

# Far enough back to hold the sentence that a marker stands behind.
CLAIM_CHARS = 500
# Sentences of a passage that are compared by meaning, those with the most words in common; where
# words do not count, because the languages differ, so many of the first.
COMPARED, COMPARED_ACROSS = 2, 24
BEST_FIRST: tuple[Support, ...] = ("supported", "partly", "unsupported")


def supporting_sentence(answer: str, passage: Passage) -> Sentence | None:
    """Return the sentence of `passage` nearest to the last sentence of `answer` by shared words.

    Words that few of the passage's sentences have count for more. A heading states nothing; None if
    there is no sentence.
    """
    stating = [each for each in passage.sentences if not each.is_heading] or passage.sentences
    if not stating:
        return None
    claim = claim_terms(answer, passage)
    spread = Counter(term for sentence in passage.sentences for term in sentence.terms)
    total = len(passage.sentences)

    def support(sentence: Sentence) -> float:
        shared = sum(math.log(1 + total / spread[term]) for term in claim & sentence.terms)
        return shared / math.sqrt(len(sentence.terms) + 4)

    return max(stating, key=support)


def claim_terms(answer: str, passage: Passage) -> frozenset[str]:
    """Return the terms of the last sentence of `answer` that has any."""
    sentences = passage.analyse(answer[-CLAIM_CHARS:])
    return next((s.terms for s in reversed(sentences) if len(s.terms) > 1), frozenset())


class Pair(NamedTuple):
    """A statement and a passage that it cites, with others that it cites in the same breath."""

    statement: Statement
    passage: int
    beside: frozenset[int]


class Grounder:
    """Checks what an answer cites, sentence by sentence, while it is being written.

    `language` is what the answer is in where its words do not tell: the question's.
    """

    def __init__(self, cited: CitedAnswer, language: str = "") -> None:
        self._cited = cited
        self._language = language
        self._evidence = {passage.index: Evidence(passage) for passage in cited.passages}
        self._verdicts: dict[Pair, Verdict] = {}
        self._early: asyncio.Task[None] | None = None
        self._behind = False

    def look(self) -> None:
        """Begin to check what the answer cites by now."""
        self._behind = True
        if self._early is None or self._early.done():
            self._early = asyncio.create_task(self._keep_up(), name="check citations")

    async def _keep_up(self) -> None:
        while self._behind:
            self._behind = False
            citations = list(self._cited.citations)
            await self._check(*await asyncio.to_thread(self._state, self._cited.text, citations))

    async def finish(self) -> Grounding:
        """Return how well the whole answer is supported. Raises BackendError."""
        self._behind = False
        if self._early is not None:
            await self._early
        text, citations = self._cited.text, list(self._cited.citations)
        if not citations:
            return Grounding(verdict="no_sources")
        claims, language = await asyncio.to_thread(self._state, text, citations)
        await self._check(claims, language)
        return self._grounding(claims, language, citations)

    def close(self) -> None:
        """Check nothing more."""
        self._behind = False
        if self._early is not None:
            self._early.cancel()

    def _state(self, text: str, citations: Sequence[CitationData]) -> tuple[Claims, str]:
        """Return what an answer states, and its language."""
        language = languages.guess(words(text)) or self._language
        return claims_of(text, citations, lambda part: sentences.split(part, language)), language

    async def _check(self, claims: Claims, language: str) -> None:
        pairs = [
            pair
            for claim in claims.cited
            for pair in self._pairs(claim, language)
            if pair not in self._verdicts
        ]
        if not pairs:
            return
        unclear = await asyncio.to_thread(self._by_words, pairs)
        texts = [
            text
            for _, comparison, chosen in unclear
            for text in (comparison.statement.text, *(each.text for each in chosen))
        ]
        embedded = True
        try:
            await meaning.embed(texts)
        except BackendError as error:
            if any(comparison.across for _, comparison, _ in unclear):
                raise  # of what is in another language words say nothing
            logger.warning("Citations are checked by their words alone: %s", error.message)
            embedded = False
        await asyncio.to_thread(self._by_meaning, unclear, embedded)

    def _pairs(self, claim: Claim, language: str) -> list[Pair]:
        statement = Statement(claim.text, language)
        passages = frozenset(self._cited.citations[number].index for number in claim.citations)
        return [Pair(statement, passage, passages - {passage}) for passage in sorted(passages)]

    def _by_words(self, pairs: Sequence[Pair]) -> list[tuple[Pair, Comparison, Sequence[Sentence]]]:
        """Decide what words can; return the rest with the sentences whose meaning matters."""
        unclear = []
        for pair in pairs:
            evidence = self._evidence[pair.passage]
            if verdict := quoted(pair.statement, evidence):
                self._verdicts[pair] = verdict
                continue
            beside = [self._evidence[index] for index in sorted(pair.beside)]
            comparison = compare(pair.statement, evidence, beside)
            if comparison.is_plain:
                self._verdicts[pair] = comparison.verdict()
            else:
                unclear.append((pair, comparison, _to_compare(comparison)))
        return unclear

    def _by_meaning(
        self, unclear: Sequence[tuple[Pair, Comparison, Sequence[Sentence]]], embedded: bool
    ) -> None:
        for pair, comparison, _ in unclear:
            near = None
            if embedded:
                texts = [each.text for each in comparison.evidence.sentences]
                near = meaning.nearness(pair.statement.text, texts, across=comparison.across)
            self._verdicts[pair] = comparison.verdict(near)

    def _grounding(
        self, claims: Claims, language: str, citations: Sequence[CitationData]
    ) -> Grounding:
        supports: dict[int, CitationSupport] = {}
        by_sentence: dict[tuple[int, int], list[Support]] = {}
        numbers: dict[tuple[int, int], list[int]] = {}
        for claim in claims.cited:
            verdicts = {pair.passage: self._verdicts[pair] for pair in self._pairs(claim, language)}
            for number in claim.citations:
                passage = citations[number].index
                supports[number] = self._support(number, passage, verdicts[passage])
            best = min((each.support for each in verdicts.values()), key=BEST_FIRST.index)
            by_sentence.setdefault(claim.sentence, []).append(best)
            numbers.setdefault(claim.sentence, []).extend(claim.citations)
        found = [
            SentenceSupport(
                span=span, support=max(each, key=BEST_FIRST.index), citations=numbers[span]
            )
            for span, each in by_sentence.items()
        ]
        return Grounding(
            verdict=verdict_of([each.support for each in found], claims.uncited),
            sentences=found,
            citations=[supports[number] for number in sorted(supports)],
            uncited=claims.uncited,
        )

    def _support(self, number: int, passage: int, verdict: Verdict) -> CitationSupport:
        source, place = self._cited.whereabouts(passage, verdict.sentence)
        return CitationSupport(
            citation=number,
            support=verdict.support,
            score=verdict.score,
            source_id=source.source_id,
            document_id=source.document_id,
            page=source.page,
            quote=verdict.sentence.text,
            place=place,
        )


def _to_compare(comparison: Comparison) -> Sequence[Sentence]:
    every = comparison.evidence.sentences
    if comparison.across:
        return every[:COMPARED_ACROSS]
    ranked = sorted(range(len(every)), key=comparison.words.__getitem__, reverse=True)
    return [every[position] for position in ranked[:COMPARED]]


def verdict_of(supports: Sequence[Support], uncited: int) -> Grounded:
    """Return the verdict on an answer from those on its sentences that cite.

    One of which most sentences cite nothing is not grounded, whatever the others do.
    """
    if not supports:
        return "no_sources"
    if all(support == "supported" for support in supports):
        return "grounded" if uncited <= len(supports) else "partly"
    return "ungrounded" if all(support == "unsupported" for support in supports) else "partly"
