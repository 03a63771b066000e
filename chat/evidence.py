"""The evidence of an answer, for people: its sources, and passages in their surroundings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch, QuerySet
from django.db.models.functions import Substr

from chat.models import Candidate, Citation, Message, Role
from chat.redaction import redact_evidence, redact_messages
from retrieval.models import Chunk, DocumentVersion

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import AnonymousUser, User

# Code points of the document shown on either side of a passage.
SURROUNDING_CHARS = 1500
HEADING = re.compile(r"^#{1,6} +", re.MULTILINE)


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


@dataclass(frozen=True)
class Excerpt:
    """A passage in its document: `before`, then the passage with its quote, then `after`."""

    before: str
    lead: str
    quote: str
    trail: str
    after: str


def messages(user: User | AnonymousUser, **wanted: Any) -> list[Message]:
    """Return messages, oldest first, with everything that showing them takes.

    What `user` may no longer see of their evidence is blank. Takes a fixed number of queries.
    """
    found = list(
        Message.objects.filter(**wanted)
        .select_related("run", "conversation__assistant")
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


def excerpt(chunk: Chunk | None, quote: str, user: User | AnonymousUser) -> Excerpt | None:
    """Cut `chunk` with its surroundings out of its version's text and find `quote` in it.

    None when the chunk is gone or `user` may no longer see it.
    """
    if chunk is None or not Chunk.objects.visible_to(user).filter(pk=chunk.pk).exists():
        return None
    start = max(0, chunk.char_start - SURROUNDING_CHARS)
    length = chunk.char_end + SURROUNDING_CHARS - start
    text, media_type = (
        DocumentVersion.objects.filter(pk=chunk.version_id)
        .values_list(Substr("text", start + 1, length), "media_type")
        .get()
    )
    before = text[: chunk.char_start - start]
    passage = text[chunk.char_start - start : chunk.char_end - start]
    after = text[chunk.char_end - start :]
    # A sentence may go on in the next chunk.
    from_, to = _find(quote, passage + after)
    over = max(0, to - len(passage))
    passage, after = passage + after[:over], after[over:]
    parts = (
        before if start == 0 else _from_word(before),
        passage[:from_],
        passage[from_:to],
        passage[to:],
        after if len(after) < SURROUNDING_CHARS else _to_word(after),
    )
    # Extraction writes headings as Markdown does; in plain text a hash is a hash.
    plain = media_type == "text/plain"
    return Excerpt(*(part if plain else HEADING.sub("", part) for part in parts))


def citation_of(message: Message, ordinal: int, user: User | AnonymousUser) -> Citation | None:
    """Return a citation with its document, or None while it is not stored yet.

    It is blank where `user` may no longer see the document.
    """
    found = (
        Citation.objects.filter(message=message, ordinal=ordinal)
        .select_related("chunk", "version__document__collection")
        .defer("chunk__fulltext", "version__text")
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


def _find(quote: str, passage: str) -> tuple[int, int]:
    """Return where `quote` stands in `passage`, white space aside; (0, 0) if it does not."""
    words = quote.strip("… ").split()
    found = re.search(r"\s+".join(map(re.escape, words)), passage) if words else None
    return found.span() if found else (0, 0)


def _from_word(text: str) -> str:
    return "…" + text[len(text.split(maxsplit=1)[0]) + 1 :] if text.strip() else text


def _to_word(text: str) -> str:
    return text.rsplit(maxsplit=1)[0] + "…" if text.strip() else text
