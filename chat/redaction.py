"""Evidence without what a person may no longer see: a collection was closed to them since.

Titles, quotes and snippets of documents in other people's collections go, and with them the words
of an answer that only quotes. What a model wrote stays: its reader has had it already.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from collections.abc import Collection as Group
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from django.db import DatabaseError
from django.utils.translation import gettext

from chat import quoting
from chat.frames import (
    Citation,
    CitationData,
    Done,
    Frame,
    Grounding,
    SearchResults,
    Snapshot,
    Source,
    Token,
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
Quoted = Callable[[], Awaitable[set[str]]]


def hidden_title() -> str:
    """Return what stands in place of a document's title."""
    return gettext("A document you may no longer see")


class Redactor:
    """Takes out of a run's frames what one reader may no longer see."""

    def __init__(
        self,
        user: User | AnonymousUser,
        quoted: Quoted | None = None,
    ) -> None:
        """Let `quoted` say which documents the answer quotes; None if a model wrote it."""
        self.user = user
        self._quoted = quoted
        self._made_of: set[str] | None = None
        self._told = False
        self._known: dict[str, bool] = {}

    async def redact(self, frame: Frame) -> Frame:
        """Return the frame as this person may see it."""
        named = documents_of(frame)
        quotes = self._quoted is not None and isinstance(frame, Token | Done | Snapshot)
        try:
            gone = await self._hidden(named)
            withheld = quotes and bool(await self._hidden(await self._documents_quoted()))
        except DatabaseError as error:
            # Nobody can say now: it is hidden this once.
            logger.warning("Evidence is hidden, as rights cannot be looked up: %s", error)
            gone, withheld = named, quotes
        shown = redacted(frame, gone) if gone else frame
        return self._without_words(shown) if withheld else shown

    async def _hidden(self, named: set[str]) -> set[str]:
        if new := named - self._known.keys():
            hidden = await hidden_documents(self.user, new)
            self._known |= {document: document in hidden for document in new}
        return {document for document in named if self._known[document]}

    async def _documents_quoted(self) -> set[str]:
        if self._made_of is None:
            self._made_of = await self._quoted() if self._quoted else set()
        return self._made_of

    def _without_words(self, frame: Frame) -> Frame:
        """Return the frame with the notice instead; of the tokens only the first has it."""
        match frame:
            case Token():
                text, self._told = "" if self._told else quoting.hidden_answer(), True
                return frame.model_copy(update={"text": text})
            case Snapshot():
                return frame.model_copy(update={"text": quoting.hidden_answer()})
            case Done():
                return frame.model_copy(update={"answer": quoting.hidden_answer()})
        return frame


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
    """Blank the evidence of messages, as `evidence.messages` fetched them, where it is hidden.

    An answer that only quotes gives way to a notice; nothing of that is saved.
    """
    citations: list[StoredCitation] = []
    candidates: list[Candidate] = []
    quoted: list[tuple[Message, set[UUID]]] = []
    for message in messages:
        citations += message.citations.all()
        if run := getattr(message, "run", None):
            candidates += run.candidates.all()
            if quoting.only_quotes(run):
                quoted.append((message, quoting.quoted_versions(message)))
    hidden = redact_evidence(citations, candidates, user)
    for message, versions in quoted:
        if versions & hidden:
            message.text = quoting.hidden_answer()


def redact_evidence(
    citations: Iterable[StoredCitation], candidates: Iterable[Candidate], user: User | AnonymousUser
) -> set[UUID]:
    """Blank what of these `user` may no longer see, and return the versions of documents it is of.

    Nothing of that is saved.
    """
    cited = [(each, each.version_id) for each in citations if each.version_id]
    found = [(each, each.chunk.version_id) for each in candidates if each.chunk]
    versions = {version for _, version in (*cited, *found)}
    hidden = _hidden_versions(versions, user) if versions else set()
    for citation, version in cited:
        if version in hidden:
            citation.title, citation.quote, citation.page = hidden_title(), "", None
            citation.quote_start = citation.quote_end = None
            citation.version = citation.chunk = None
    for candidate, version in found:
        if version in hidden:
            candidate.title, candidate.snippet, candidate.page = hidden_title(), "", None
            candidate.scores, candidate.chunk = {}, None
    return hidden


def _hidden_versions(versions: Group[UUID], user: User | AnonymousUser) -> set[UUID]:
    documents = _hidden(Document.with_deleted.filter(versions__in=versions), user)
    known = DocumentVersion.objects.filter(pk__in=versions, document__in=documents)
    return set(known.values_list("pk", flat=True))


def _hidden(documents: QuerySet[Document], user: User | AnonymousUser) -> QuerySet[Document]:
    return documents.exclude(collection__in=Collection.objects.visible_to(user)).order_by()
