"""Conversations for tests, stored as a run would have stored them."""

from __future__ import annotations

import re
from typing import Any

from django.contrib.auth.models import User

from chat.models import Candidate, Citation, Conversation, Message, Role, Run, RunState
from retrieval.models import Chunk, Collection, Document, DocumentVersion, Stage

LIGHTHOUSE = """The lighthouse at Cape Wrath

Built in 1828 by Robert Stevenson, the tower stands 20 metres tall. Its lamp was first lit on
Christmas Day.

## The lamp
The lamp can be seen from 22 miles away. It was automated in 1998, and the last keepers left.

## The foghorn
The foghorn fell silent in 2001.
"""


def person(name: str = "ada", **fields: Any) -> User:
    """Make someone who can sign in; the password is the name."""
    return User.objects.create_user(name, password=name, **fields)


def document(text: str = LIGHTHOUSE, title: str = "Lighthouses of Scotland") -> DocumentVersion:
    """Make a document that is ready, with a chunk for each of its sections."""
    collection, _ = Collection.objects.get_or_create(name="Samples")
    made = Document.objects.create(collection=collection, name=f"{title}.txt", title=title)
    version = DocumentVersion.objects.create(
        document=made, number=1, sha256="0" * 64, size=len(text), text=text, stage=Stage.READY
    )
    made.current_version = version
    made.save()
    position = 0
    for ordinal, section in enumerate(re.split(r"(?=^## )", text, flags=re.MULTILINE)):
        Chunk.objects.create(
            version=version,
            ordinal=ordinal,
            text=section,
            page_start=ordinal + 1,
            page_end=ordinal + 1,
            char_start=position,
            char_end=position + len(section),
        )
        position += len(section)
    return version


def answered(
    user: User,
    question: str = "How far can the lamp be seen?",
    answer: str = "The lamp can be seen from **22 miles** away [1]. It was automated in 1998 [1].",
    version: DocumentVersion | None = None,
    conversation: Conversation | None = None,
    **run: Any,
) -> Run:
    """Make a question with its answer; each `[n]` cites the n-th chunk after the first."""
    version = version or document()
    conversation = conversation or Conversation.objects.create(user=user, title=question)
    chunks = [*version.chunks.all()[1:], version.chunks.all()[0]]
    asked = Message.objects.create(conversation=conversation, role=Role.USER, text=question)
    reply = Message.objects.create(conversation=conversation, role=Role.ASSISTANT, text=answer)
    fields: dict[str, Any] = {"state": RunState.COMPLETED, "finish_reason": "stop", **run}
    made = Run.objects.create(
        conversation=conversation, user=user, question=asked, answer=reply, **fields
    )
    for rank, chunk in enumerate(chunks, 1):
        Candidate.objects.create(
            run=made,
            rank=rank,
            index=rank,
            chunk=chunk,
            title=version.document.title,
            page=chunk.page_start,
            snippet=chunk.text[:100],
            scores={"vector": 0.9 - rank / 10, "reranked": 0.95 - rank / 5},
        )
    for ordinal, marker in enumerate(re.finditer(r"\[(\d+)\]", answer)):
        chunk = chunks[int(marker[1]) - 1]
        sentence = re.split(r"(?<=[.])\s", chunk.text.split("\n", 1)[1].strip())[0]
        Citation.objects.create(
            message=reply,
            ordinal=ordinal,
            index=int(marker[1]),
            chunk=chunk,
            version=version,
            title=version.document.title,
            page=chunk.page_start,
            quote=sentence,
            span_start=marker.start(),
            span_end=marker.end(),
        )
    return made
