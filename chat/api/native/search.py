"""Searching without asking."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from ninja import Field, Router, Schema

from chat.accounts.models import Scope
from chat.api import searching
from chat.api.credentials import Request
from chat.api.native.callers import Caller
from chat.api.native.document_schemas import CollectionName, CollectionRef
from chat.api.native.parsing import Body
from chat.client_messages import QuestionText
from retrieval.search import Hit

router = Router(tags=["search"], auth=Caller(Scope.SEARCH))


class SearchIn(Body):
    """What is searched for, in what, and how."""

    query: QuestionText = Field(examples=["How many days of leave do I have?"])
    collections: list[CollectionRef] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="Ids or names; without it, all that you may see.",
    )
    assistant: CollectionName | None = Field(
        None, description="Search as this assistant does; the settings are over its own."
    )
    settings: dict[str, Any] | None = Field(None, json_schema_extra={"x-schema": "SearchSettings"})


class Passage(Schema):
    """A passage that was found; scores are by stage, high is good."""

    id: UUID = Field(description="Of the chunk.")
    document: UUID
    title: str
    text: str
    heading: list[str]
    page: int | None
    language: str
    version: UUID | None
    span: tuple[int, int] | None = Field(
        description="[start, end) in the text of the version, in code points."
    )
    scores: dict[str, float] | None
    metadata: dict[str, Any] | None


class Warned(Schema):
    """What did not work, though something was found."""

    code: str
    message: str


class SearchOut(Schema):
    """What was found, best first."""

    query: str = Field(description="What was searched for.")
    written: list[str] = Field(description="What a strategy searched for beside it.")
    results: list[Passage]
    warnings: list[Warned]
    milliseconds: int


@router.post("", response=SearchOut, operation_id="search", summary="Search passages")
async def search(request: Request, body: SearchIn) -> SearchOut:
    """Find the passages that an answer would draw on; nothing is written."""
    user: User = request.user
    found = await searching.search(
        user,
        body.query,
        body.settings,
        collections=body.collections,
        assistant=body.assistant,
    )
    return SearchOut(
        query=found.query,
        written=list(found.written),
        results=[passage_out(hit, found) for hit in found.hits],
        warnings=[Warned(code=each.code, message=each.message) for each in found.warnings],
        milliseconds=found.milliseconds,
    )


def passage_out(hit: Hit, found: searching.Found) -> Passage:
    """Describe one of what was found, with as much as the settings of the search ask for."""
    settings, place = found.settings, hit.place
    scores = {stage: round(score, 6) + 0.0 for stage, score in hit.scores.items()}
    metadata = found.metadata.get(hit.document_id, {}) if settings.include_metadatas else None
    return Passage(
        id=hit.id,
        document=hit.document_id,
        title=hit.title,
        text=hit.text,
        heading=list(hit.heading_path),
        page=hit.page,
        language=hit.language,
        version=place.version_id if place else None,
        span=(place.start, place.end) if place else None,
        scores=scores if settings.include_scores else None,
        metadata=metadata,
    )
