"""The evidence of an answer, for people: its sources, and what of them they may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch, QuerySet

from chat.models import Candidate, Citation, Message, Role
from chat.redaction import redact_evidence, redact_messages

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.contrib.auth.models import AnonymousUser, User


@dataclass(frozen=True)
class Cited:
    """What an answer cites by one number: sentences of a passage, in order of appearance."""

    index: int
    citations: list[Citation]

    @property
    def title(self) -> str:
        """The document's title."""
        return self.citations[0].title

    @property
    def pages(self) -> list[int]:
        """The pages that are cited, in their order."""
        return page_numbers(self.citations)

    @property
    def quotes(self) -> list[str]:
        """The sentences that are cited, each once."""
        return list(dict.fromkeys(each.quote for each in self.citations if each.quote))


@dataclass(frozen=True)
class Source:
    """A passage that was found for an answer: a row of its list of sources.

    Its `candidates` are the chunks that it was merged from, and those that say the same in other
    places. The first is the one that it is shown by: of a passage that is cited the one that is
    cited first, else the best.
    """

    candidates: list[Candidate]
    cited: Cited | None

    @property
    def candidate(self) -> Candidate:
        """The chunk that it is shown by."""
        return self.candidates[0]

    @property
    def pages(self) -> list[int]:
        """The pages that are cited; if none are, those on which its chunks begin."""
        return self.cited.pages if self.cited else page_numbers(self._in_document(shown=True))

    @property
    def also_in(self) -> list[str]:
        """The titles of other documents that say the same."""
        return list(dict.fromkeys(each.title for each in self._in_document(shown=False)))

    @property
    def relevance(self) -> float | None:
        """How relevant the reranker found it, in [0, 1]; None if it did not look at it."""
        score = self._best("reranked")
        return None if score is None else min(1.0, max(0.0, score))

    @property
    def similarity(self) -> float | None:
        """How similar its meaning is to the question's: the cosine, of another scale."""
        return self._best("vector")

    def _best(self, stage: str) -> float | None:
        scores = (each.scores.get(stage) for each in self.candidates)
        return max((score for score in scores if score is not None), default=None)

    def _in_document(self, *, shown: bool) -> list[Candidate]:
        document = document_of(self.candidate)
        return [
            each
            for each in self.candidates
            if each is self.candidate or each.chunk
            if (document_of(each) == document) is shown
        ]


def messages(user: User | AnonymousUser, **wanted: Any) -> list[Message]:
    """Return messages, oldest first, with everything that showing them takes.

    What `user` may no longer see of their evidence is blank. Takes a fixed number of queries.
    """
    found = list(
        Message.objects.filter(**wanted)
        .select_related("run__assistant_version", "conversation__assistant")
        .prefetch_related("citations", Prefetch("run__candidates", candidates()))
    )
    redact_messages(found, user)
    return found


def candidates() -> QuerySet[Candidate]:
    """Return candidates with their documents and collections, without long texts."""
    return Candidate.objects.select_related("chunk__version__document__collection").defer(
        "chunk__text", "chunk__fulltext", "chunk__version__text"
    )


def cited(message: Message) -> list[Cited]:
    """Return what an answer cites, in order of the passages' numbers."""
    found: dict[int, Cited] = {}
    for citation in message.citations.all():
        found.setdefault(citation.index, Cited(citation.index, [])).citations.append(citation)
    return [found[index] for index in sorted(found)]


def sources(message: Message) -> tuple[list[Source], list[Source]]:
    """Return the cited sources of an answer, in order of their numbers, and the others, best first.

    What was found but not judged by the reranker comes behind what was, and is in order of its
    similarity; what has no score at all is last.
    """
    run = getattr(message, "run", None)
    if message.role != Role.ASSISTANT or run is None:
        return [], []
    numbered = {each.index: each for each in cited(message)}
    passages: dict[tuple[int | None, int], list[Candidate]] = {}
    for candidate in run.candidates.all():
        # What is not in the prompt has no number, and is a passage of its own.
        key = (candidate.index, 0 if candidate.index else candidate.rank)
        passages.setdefault(key, []).append(candidate)
    every = [_source(chunks, numbered.get(index or 0)) for (index, _), chunks in passages.items()]
    return (
        sorted((each for each in every if each.cited), key=lambda each: each.candidate.index or 0),
        sorted((each for each in every if not each.cited), key=_worst_last),
    )


def _source(chunks: list[Candidate], cited: Cited | None) -> Source:
    if cited:
        first = cited.citations[0].chunk_id
        chunks = sorted(chunks, key=lambda each: each.chunk_id != first)
    return Source(chunks, cited)


def _worst_last(source: Source) -> list[tuple[bool, float]]:
    scores = (source.relevance, source.similarity)
    return [(score is None, -(score or 0.0)) for score in scores]


def page_numbers(places: Iterable[Citation | Candidate]) -> list[int]:
    """Return the pages of places in a document, each once, in their order."""
    return sorted({place.page for place in places if place.page})


def document_of(candidate: Candidate) -> UUID | None:
    """Return the document that a candidate is of, None if its chunk is gone."""
    return candidate.chunk.version.document_id if candidate.chunk else None


def citation_of(message: Message, ordinal: int, user: User | AnonymousUser) -> Citation | None:
    """Return a citation with its document, or None while it is not stored yet.

    It is blank where `user` may no longer see the document.
    """
    found = (
        Citation.objects.filter(message=message, ordinal=ordinal)
        .select_related("chunk", "version__document__collection")
        .select_related("version__document__current_version")
        .defer("chunk__fulltext", "version__text", "version__document__current_version__text")
        .first()
    )
    if found is not None:
        redact_evidence([found], [], user)
    return found


def candidate_of(message: Message, rank: int, user: User | AnonymousUser) -> Candidate | None:
    """Return a passage that was found for an answer, blank where `user` may not see it any more."""
    found = candidates().filter(run__answer=message, rank=rank).first()
    if found is not None:
        redact_evidence([], [found], user)
    return found
