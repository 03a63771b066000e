"""The evidence of an answer, for people: its sources, and what of them they may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch, QuerySet

from chat.models import Candidate, Citation, Message, Role
from chat.redaction import redact_evidence, redact_messages

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import AnonymousUser, User


@dataclass(frozen=True)
class Source:
    """A candidate of a run.

    It is cited if its passage is, which may stand for chunks of several documents; `ordinal` is the
    first citation of this very chunk, None if there is none.
    """

    candidate: Candidate
    cited: bool
    ordinal: int | None

    @property
    def relevance(self) -> float | None:
        """How relevant the reranker found it, in [0, 1]; other scores are of no common scale."""
        score = self.candidate.scores.get("reranked")
        return None if score is None else min(1.0, max(0.0, score))


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


def sources(message: Message) -> tuple[list[Source], list[Source]]:
    """Return the cited sources of an answer, in order of their numbers, and the others by rank."""
    run = getattr(message, "run", None)
    if message.role != Role.ASSISTANT or run is None:
        return [], []
    numbers = {citation.index for citation in message.citations.all()}
    ordinals: dict[tuple[int, UUID | None], int] = {}
    for citation in message.citations.all():
        ordinals.setdefault((citation.index, citation.chunk_id), citation.ordinal)
    places = {
        (candidate.index, document_of(candidate))
        for candidate in run.candidates.all()
        if (candidate.index, candidate.chunk_id) in ordinals
    }
    every = []
    for candidate in run.candidates.all():
        index = candidate.index
        ordinal = None if index is None else ordinals.get((index, candidate.chunk_id))
        # Of chunks that were merged those that are cited will do.
        merged = ordinal is None and (index, document_of(candidate)) in places
        every.append(Source(candidate, index in numbers and not merged, ordinal))
    cited = [source for source in every if source.cited]
    cited.sort(key=lambda source: source.candidate.index or 0)
    return cited, [source for source in every if not source.cited]


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
