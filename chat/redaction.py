"""Evidence without what a person may no longer see: a collection was closed to them since.

An answer's own words stay, which its reader has had already; titles, quotes and snippets of
documents in other people's collections do not.
"""

from __future__ import annotations

import logging
from collections.abc import Collection as Group
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from django.db import DatabaseError
from django.utils.translation import gettext

from chat.frames import (
    Citation,
    CitationData,
    Done,
    Frame,
    Grounding,
    SearchResults,
    Snapshot,
    Source,
)
from retrieval.database import rows
from retrieval.models import Collection, Document, DocumentVersion

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import QuerySet

    from chat.models import Candidate, Message
    from chat.models import Citation as StoredCitation

logger = logging.getLogger(__name__)

Named = TypeVar("Named", Source, CitationData, Citation)


def hidden_title() -> str:
    """Return what stands in place of a document's title."""
    return gettext("A document you may no longer see")


class Redactor:
    """Takes out of frames what one reader may no longer see."""

    def __init__(self, user: User | AnonymousUser) -> None:
        self.user = user
        self._known: dict[str, bool] = {}

    async def redact(self, frame: Frame) -> Frame:
        """Return the frame as this person may see it."""
        named = documents_of(frame)
        if new := named - self._known.keys():
            try:
                hidden = await hidden_documents(self.user, new)
            except DatabaseError as error:
                # Nobody can say now: it is hidden this once.
                logger.warning("Evidence is hidden, as rights cannot be looked up: %s", error)
                return redacted(frame, named)
            self._known |= {document: document in hidden for document in new}
        gone = {document for document in named if self._known[document]}
        return redacted(frame, gone) if gone else frame


def documents_of(frame: Frame) -> set[str]:
    """Return the documents that a frame shows something of."""
    match frame:
        case SearchResults():
            named = {source.document_id for source in frame.results}
        case Citation():
            named = {frame.document_id}
        case Grounding():
            named = {each.document_id for each in frame.citations}
        case Done() | Snapshot():
            named = {citation.document_id for citation in frame.citations}
        case _:
            return set()
    return named - {""}


async def hidden_documents(user: User | AnonymousUser, documents: Group[str]) -> set[str]:
    """Return those of the documents that `user` may not see; deleted ones are nobody's.

    Raises DatabaseError.
    """
    hidden = _hidden(Document.with_deleted.filter(pk__in=documents), user)
    return {str(document) for (document,) in await rows(hidden.values_list("pk"))}


def redacted(frame: Frame, gone: Group[str]) -> Frame:
    """Return a copy of the frame that says nothing of these documents."""
    match frame:
        case SearchResults():
            results = [_without(source, gone) for source in frame.results]
            return frame.model_copy(update={"results": results})
        case Citation():
            source = frame.source and _without(frame.source, gone)
            return _without(frame, gone).model_copy(update={"source": source})
        case Grounding():
            supports = [
                each.model_copy(update={"quote": "", "page": None, "place": None})
                if each.document_id in gone
                else each
                for each in frame.citations
            ]
            return frame.model_copy(update={"citations": supports})
        case Done() | Snapshot():
            citations = [_without(citation, gone) for citation in frame.citations]
            return frame.model_copy(update={"citations": citations})
    return frame


def _without(named: Named, gone: Group[str]) -> Named:
    if named.document_id not in gone:
        return named
    blank: dict[str, object] = {"title": hidden_title(), "page": None}
    if isinstance(named, Source):
        blank |= {"heading": "", "snippet": "", "scores": {}, "metadata": None}
    else:
        blank |= {"quote": "", "place": None}
    return named.model_copy(update=blank)


def redact_messages(messages: Iterable[Message], user: User | AnonymousUser) -> None:
    """Blank the evidence of messages, as `evidence.messages` fetched them, where it is hidden."""
    citations: list[StoredCitation] = []
    candidates: list[Candidate] = []
    for message in messages:
        citations += message.citations.all()
        if run := getattr(message, "run", None):
            candidates += run.candidates.all()
    redact_evidence(citations, candidates, user)


def redact_evidence(
    citations: Iterable[StoredCitation], candidates: Iterable[Candidate], user: User | AnonymousUser
) -> None:
    """Blank what of these `user` may no longer see; nothing of that is saved."""
    cited = [(each, each.version_id) for each in citations if each.version_id]
    found = [(each, each.chunk.version_id) for each in candidates if each.chunk]
    versions = {version for _, version in (*cited, *found)}
    hidden = _hidden_versions(versions, user) if versions else ()
    for citation, version in cited:
        if version in hidden:
            citation.title, citation.quote, citation.page = hidden_title(), "", None
            citation.quote_start = citation.quote_end = None
            citation.version = citation.chunk = None
    for candidate, version in found:
        if version in hidden:
            candidate.title, candidate.snippet, candidate.page = hidden_title(), "", None
            candidate.scores, candidate.chunk = {}, None


def _hidden_versions(versions: Group[UUID], user: User | AnonymousUser) -> set[UUID]:
    documents = _hidden(Document.with_deleted.filter(versions__in=versions), user)
    known = DocumentVersion.objects.filter(pk__in=versions, document__in=documents)
    return set(known.values_list("pk", flat=True))


def _hidden(documents: QuerySet[Document], user: User | AnonymousUser) -> QuerySet[Document]:
    return documents.exclude(collection__in=Collection.objects.visible_to(user)).order_by()
