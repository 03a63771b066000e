"""What an answer rests on: its list of sources, and each of them in the panel beside it.

Like all of the chat these are limited to the person's own conversations, and what they may no
longer see of the documents is blank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from chat import evidence, excerpts
from chat.models import ACTIVE
from chat.views import own_message, visitor_required
from retrieval.views import readable_by

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import AnonymousUser, User

    from chat.models import Candidate, Citation
    from chat.views import VisitorRequest
    from retrieval.models import Chunk, DocumentVersion

PDF = "application/pdf"


@require_safe
@visitor_required
def sources(request: VisitorRequest, message_id: UUID) -> HttpResponse:
    """List what an answer rests on: the cited first, then what else was found."""
    return render(request, "chat/_sources.html", {"message": own_message(request, message_id)})


@require_safe
@visitor_required
def citation(request: VisitorRequest, message_id: UUID, ordinal: int) -> HttpResponse:
    """Show the passage that a citation points to, with the sentence marked."""
    answer = own_message(request, message_id)
    found = evidence.citation_of(answer, ordinal, request.user)
    if found is None:
        if answer.run.state in ACTIVE:
            return render(request, "chat/_passage_soon.html")
        raise Http404
    count = answer.citations.count()
    context = {
        "message": answer,
        "quote": found.quote,
        "support": found.support if found.quote else "",
        "excerpt": excerpts.excerpt(found.chunk, request.user, found.quote, found.place),
        "more": reverse("chat:citation_text", args=[message_id, ordinal]),
        "previous": ordinal - 1 if ordinal else None,
        "next": ordinal + 1 if ordinal + 1 < count else None,
        "position": ordinal + 1,
        "count": count,
        **_origin(found, found.version, request.user),
    }
    return render(request, "chat/_passage.html", context)


@require_safe
@visitor_required
def source(request: VisitorRequest, message_id: UUID, rank: int) -> HttpResponse:
    """Show a passage that was found but not cited."""
    found = evidence.candidate_of(own_message(request, message_id), rank, request.user)
    if found is None:
        raise Http404
    context = {
        "quote": found.snippet,
        "excerpt": excerpts.excerpt(found.chunk, request.user),
        "more": reverse("chat:source_text", args=[message_id, rank]),
        **_origin(found, found.chunk.version if found.chunk else None, request.user),
    }
    return render(request, "chat/_passage.html", context)


@require_safe
@visitor_required
def citation_text(request: VisitorRequest, message_id: UUID, ordinal: int) -> HttpResponse:
    """Show more of the document that a citation points into."""
    answer = own_message(request, message_id)
    found = evidence.citation_of(answer, ordinal, request.user)
    return _more(request, found.chunk if found else None)


@require_safe
@visitor_required
def source_text(request: VisitorRequest, message_id: UUID, rank: int) -> HttpResponse:
    """Show more of the document that a passage is of which was found but not cited."""
    found = evidence.candidate_of(own_message(request, message_id), rank, request.user)
    return _more(request, found.chunk if found else None)


def _more(request: VisitorRequest, chunk: Chunk | None) -> HttpResponse:
    """Show what stands before or after a position, or the chunk, in the text of its document."""
    if chunk is None:
        raise Http404
    side = "before" if "before" in request.GET else "after"
    position = request.GET.get(side, str(chunk.char_end))
    # Beyond nine digits there is no text.
    if not (position.isascii() and position.isdigit() and len(position) < 10):
        raise Http404
    read = excerpts.text_before if side == "before" else excerpts.text_after
    piece = read(chunk, int(position), request.user)
    if piece is None:
        raise Http404
    context = {"piece": piece, "more": request.path}
    return render(request, f"chat/_passage_{side}.html", context)


def _origin(
    item: Citation | Candidate, version: DocumentVersion | None, user: User | AnonymousUser
) -> dict[str, Any]:
    """Say of which version of which document a passage is, and where its file can be had."""
    context: dict[str, Any] = {"item": item, "version": version}
    if version is None:
        return context
    newest = version.document.current_version
    if newest and newest.number > version.number:
        context["newest"] = newest
    if file := _file(version, user):
        context |= {"file": file, "is_pdf": version.media_type == PDF}
    return context


def _file(version: DocumentVersion, user: User | AnonymousUser) -> str:
    """Return the address of a version's file; nothing if `user` may not have it or it is gone."""
    found = readable_by(user).filter(pk=version.pk).first()
    if found is None or not found.file.storage.exists(str(found.file.name)):
        return ""
    return reverse("documents:file", args=[version.pk])
