"""Searching for a program: what a question would find, and nothing is answered."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import ngettext
from uuid_utils.compat import uuid7

from chat import allowance, pace, trying
from chat import asking as questions
from chat.answering import finding, preparing
from chat.answering.preparing import Prepared
from chat.answering.question import Clock, Question
from chat.api.asking import collection_names
from chat.client_messages import Asking
from chat.frames import Status, Usage, WarningFrame
from chat.runstate import RunRefused
from retrieval import search as passages
from retrieval.backends.base import BackendError
from retrieval.database import Statement, execute
from retrieval.limits.quantities import QUESTIONS
from retrieval.search import SearchSettings, strategies

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

RETRY_SECONDS = 5


@dataclass(frozen=True)
class Found:
    """What a search found, best first, by `settings`.

    `query` is what was searched for, and `written` what a strategy searched for beside it.
    `metadata` is that of the documents, where the settings ask for it. `warnings` say what did not
    work.
    """

    query: str
    settings: SearchSettings
    hits: tuple[passages.Hit, ...] = ()
    metadata: Mapping[UUID, dict[str, Any]] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    warnings: tuple[WarningFrame, ...] = ()
    milliseconds: int = 0


async def search(
    user: User,
    text: str,
    settings: SearchSettings | Mapping[str, Any] | None = None,
    *,
    collections: Sequence[UUID | str] | None = None,
    assistant: str | None = None,
) -> Found:
    """Return the passages that fit a question, of what `user` may see.

    With the name of an assistant it searches as that does. It is limited as questions are, and
    what a strategy has a generator write counts as they do. Raises RunRefused, DatabaseError.
    """
    question = await _question(user, text, settings, collections, assistant)
    await check(user)
    if not preparing.asks_generator(question):
        return await _search(question, [])
    key, usage = uuid7(), [Usage()]
    await execute(Statement(trying.CHARGE, [user.pk, key]))
    try:
        return await _search(question, usage)
    finally:
        spent = usage[-1].prompt_tokens + usage[-1].completion_tokens
        await execute(Statement(trying.TOKENS, [spent, key]))


async def _question(
    user: User,
    text: str,
    settings: SearchSettings | Mapping[str, Any] | None,
    collections: Sequence[UUID | str] | None,
    assistant: str | None,
) -> Question:
    names = await collection_names(user, collections or ())
    if assistant is None:
        # What is asked for, in all that they may see: no assistant says otherwise.
        nobody = questions.AskedAssistant()
        chosen = await questions.find_collections(user, names, nobody)
        if not isinstance(settings, SearchSettings):
            settings = questions.search_settings(nobody, dict(settings or {}))
        return Question(text=text, scope=passages.Scope(user, chosen), settings=settings)
    said = settings.model_dump(mode="json") if isinstance(settings, SearchSettings) else settings
    asking = Asking(text=text, collections=names, assistant=assistant, settings=dict(said or {}))
    return (await questions.find(user, asking)).question


async def check(user: User) -> None:
    """Raise RunRefused unless `user` may search now: as often as ten times for each question."""
    for meter in await allowance.check(user):
        if meter.quantity == QUESTIONS and not pace.may_look(("search", user.pk), meter.allowed):
            most = min(pace.MOST_A_MINUTE, pace.LOOKS_A_QUESTION * meter.allowed)
            message = ngettext(
                "You may search {n} time a minute.", "You may search {n} times a minute.", most
            ).format(n=most)
            raise RunRefused(
                "rate_limited", message, recoverable=True, retry_in_ms=RETRY_SECONDS * 1000
            )


async def _search(question: Question, usage: list[Usage]) -> Found:
    """Do what is done for an answer, up to the ranking; the tokens that took go into `usage`."""
    began = time.monotonic()
    settings = question.settings
    warnings: list[WarningFrame] = []
    async with aclosing(preparing.prepare(question, Clock())) as steps:
        async for step in steps:
            if isinstance(step, Prepared):
                prepared = step
            elif isinstance(step, WarningFrame):
                warnings.append(step)
            else:
                assert isinstance(step, Status)  # noqa: S101 - there are no others
    usage.append(prepared.usage)
    try:
        found = await strategies.retrieve_with(
            prepared.query, prepared.written, question.scope, settings
        )
    except BackendError as error:
        logger.warning("A search failed: %s", error.message)
        raise RunRefused("unavailable", finding.degraded_message(), recoverable=True) from error
    if found.degraded:
        logger.warning("Searched by full text alone: %s", found.degraded.message)
        warnings.append(WarningFrame(code="search_degraded", message=finding.degraded_message()))
    hits = found.hits
    try:
        hits = await passages.rerank(prepared.query, hits, settings)
    except BackendError as error:
        logger.warning("Not reranked: %s", error.message)
        warnings.append(WarningFrame(code="rerank_failed", message=finding.unranked_message()))
        hits = hits[passages.window(settings)]
    documents = {hit.document_id for hit in hits} if settings.include_metadatas else set()
    return Found(
        query=prepared.query.text,
        settings=settings,
        hits=tuple(hits),
        metadata=await passages.metadata_of(documents),
        written=prepared.written,
        warnings=tuple(warnings),
        milliseconds=round((time.monotonic() - began) * 1000),
    )
