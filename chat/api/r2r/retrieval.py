"""Searching, asking, and embedding."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError
from django.utils.translation import gettext
from ninja import Router
from ninja.errors import HttpError
from pydantic import TypeAdapter, ValidationError

from chat.accounts.models import Scope
from chat.answering.finding import source_of
from chat.api import asking, searching, streaming
from chat.api.credentials import Caller, Request
from chat.api.r2r import generation, search_settings, wire
from chat.api.r2r.events import DONE, Event, Telling, failed
from chat.api.r2r.passages import described
from chat.api.r2r.results import by_number, citations, used
from chat.api.refusing import AnswerError
from chat.client_messages import Ask, QuestionText
from chat.models import Assistant
from chat.refusals import fault
from chat.runstate import RunRefused, unavailable_message
from chat.terms import Terms
from retrieval import backends
from retrieval.backends.base import BackendError
from retrieval.backends.generation import GenerationSettingsError
from retrieval.database import rows
from retrieval.search import SearchSettingsError, vector

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpResponse
    from django.http.response import HttpResponseBase

    from chat.models import Run

router = Router()
ASKS, SEARCHES = Caller(Scope.ASK), Caller(Scope.SEARCH)
QUESTION: TypeAdapter[str] = TypeAdapter(QuestionText)
# Its clients cannot come back to an answer, and keep no conversation with it.
TERMS = Terms(listed=False, on_leave="stop")


@dataclass(frozen=True)
class Said:
    """What a request says of a search and of an answer."""

    query: str
    search: search_settings.Wanted
    generation: generation.Wanted


@router.post("retrieval/search", auth=SEARCHES)
async def search(request: Request) -> HttpResponse:
    """Return the passages that fit a question."""
    said, user = _said(wire.object_of(request)), request.user
    found = await searching.search(user, said.query, said.search.settings)
    sources = [source_of(hit, None) for hit in found.hits]
    return wire.results({"chunk_search_results": await described(user, said.search, sources)})


@router.post("retrieval/rag", auth=ASKS)
async def rag(request: Request) -> HttpResponseBase:
    """Answer a question: whole, or as a stream of events."""
    body, user = wire.object_of(request), request.user
    if body.get("include_web_search"):
        wire.not_available(gettext("Searching the web is not available here."))
    if body.get("task_prompt"):
        wire.refuse("task_prompt", gettext("is not available: assistants have their instructions"))
    said = _said(body)
    ask = Ask(
        type="ask",
        text=said.query,
        settings=said.search.settings or None,
        generation=said.generation.settings or None,
        model=await _model(user, said.generation.model),
    )
    run = await asking.begin(request, ask, TERMS)
    if said.generation.stream:
        return await streaming.respond(request, _events(request, run, said))
    return await _whole(request, run, said)


@router.post("retrieval/agent", auth=ASKS)
def agent(request: Request) -> HttpResponse:
    """Say that there are no agents."""
    wire.not_available(gettext("Agents are not available here. Use retrieval.rag."))


@router.post("retrieval/embedding", auth=SEARCHES)
async def embedding(request: Request) -> HttpResponse:
    """Return the vector of a question, in the space that is searched."""
    text = _question("text", wire.text_of(request, "text"))
    await searching.check(request.user)
    try:
        meaning = await vector.embed(text)
        found = meaning.vector if meaning else await backends.embedder().embed_query(text)
    except BackendError as error:
        raise HttpError(503, gettext("The embedding model cannot be reached.")) from error
    return wire.results([float(number) for number in found])


def _said(body: dict[str, Any]) -> Said:
    """Return what a body says. Raises HttpError, RunRefused that names the field."""
    try:
        wanted = search_settings.translated(body.get("search_mode"), body.get("search_settings"))
        written = generation.translated(body.get("rag_generation_config"))
    except (SearchSettingsError, GenerationSettingsError) as error:
        raise RunRefused("bad_settings", str(error)) from error
    return Said(_question("query", body.get("query")), wanted, written)


def _question(name: str, value: object) -> str:
    try:
        return QUESTION.validate_python(value)
    except ValidationError as error:
        wire.refuse(name, fault(error.errors(include_url=False)[0]))


async def _model(user: User, name: str | None) -> str | None:
    """Return the model that is meant, if the assistant that answers has it."""
    if name is None:
        return None
    preferred = Assistant.objects.usable_by(user).preferred()
    found = await rows(preferred.values_list("model", "allowed_models")[:1])
    return generation.known(name, [own for model, more in found for own in (model, *more) if own])


async def _whole(request: Request, run: Run, said: Said) -> HttpResponse:
    """Return an answer as a whole. Raises AnswerError where it failed."""
    answered = await asking.whole(request, run.pk)
    if answered.error:
        raise AnswerError(answered.error)
    assert answered.done is not None  # noqa: S101 - a run ends with the one or the other
    sources = used(answered.search_results)
    describe = partial(described, request.user, said.search)
    found = await describe(sources)
    cited = [each for each in answered.sources if each not in sources]
    payloads = {
        **by_number(cited, await describe(cited) if cited else []),
        **by_number(sources, found),
    }
    answer = answered.done.answer
    return wire.results(
        {
            "generated_answer": answer,
            "completion": answer,
            "search_results": {"chunk_search_results": found},
            "citations": citations(answer, answered.done.citations, payloads),
            "metadata": {
                "id": run.pk,
                "finish_reason": answered.done.finish_reason,
                "usage": answered.done.usage.model_dump(),
            },
        }
    )


async def _events(request: Request, run: Run, said: Said) -> AsyncGenerator[bytes]:
    """Yield an answer's events; whoever leaves before the last stops it."""
    telling = Telling(partial(described, request.user, said.search))
    try:
        async with aclosing(asking.frames(request, run.pk)) as frames:
            async for frame in frames:
                for event in await telling.events(frame):
                    yield _encoded(event)
    except DatabaseError:  # what is said of passages
        yield _encoded(failed(unavailable_message(), "unavailable"))
        yield _encoded(DONE)


def _encoded(event: Event) -> bytes:
    data = event.data if isinstance(event.data, str) else streaming.to_json(event.data)
    return streaming.event(data, event=event.name)
