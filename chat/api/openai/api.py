"""The addresses of the dialect: what stands in a request is read here, and in no other way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from ninja import NinjaAPI

from chat.accounts.models import Scope
from chat.api import asking, searching, uploading
from chat.api.credentials import Caller
from chat.api.openai import answering, embeddings, errors, models, requests
from chat.api.refusing import answer_status
from chat.api.streaming import beating, event, respond, to_json
from chat.runstate import RunRefused
from retrieval.backends.base import BackendError

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from chat.api.credentials import Request
    from chat.api.refusing import Refusal

api = NinjaAPI(
    title="OpenAI dialect",
    urls_namespace="openai",
    docs_url=None,
    openapi_url=None,
    auth=Caller(Scope.ASK),
)


@api.get("models")
async def list_models(request: Request) -> HttpResponse:
    """List what can be named as a model."""
    found = await models.listed(request.user)
    return answer({"object": "list", "data": [model.to_json() for model in found]})


@api.get("models/{path:model}")
async def retrieve_model(request: Request, model: str) -> HttpResponse:
    """Describe a model."""
    return answer((await models.named(request.user, model)).to_json())


@api.post("chat/completions")
async def create_completion(request: Request) -> HttpResponseBase:
    """Answer the last message, whole or as a stream."""
    asked = requests.parse(request.body)
    run = await answering.begin(request, asked)
    completion = answering.completion(request, run, asked.model)
    if not asked.stream:
        return answer(await answering.whole(request, run, completion))
    frames = asking.frames(request, run.id)
    lines = answering.stream(frames, completion, with_usage=asked.wants_usage)
    # A comment is no line of data: what says nothing keeps the connection alive instead.
    beat = event(to_json(completion.chunk({"content": ""})))
    return await respond(request, beating(lines, beat), heartbeat=False)


@api.post("embeddings", auth=Caller(Scope.SEARCH))
async def create_embeddings(request: Request) -> HttpResponse:
    """Embed texts as documents are embedded."""
    asked = embeddings.parse(uploading.read_body(request))
    embedder = await models.embedder_of(asked.model)
    await searching.check(request.user)
    return answer(await embeddings.embed(embedder, asked))


def answer(body: dict[str, Any], status: int = 200) -> HttpResponse:
    """Return JSON of ASCII."""
    return HttpResponse(to_json(body), content_type="application/json", status=status)


def shape(request: HttpRequest, refused: Refusal) -> HttpResponse:
    """Return a refusal that all APIs know in the shape of this one."""
    code = "invalid_api_key" if refused.status == 401 else refused.code
    error = errors.ApiError(refused.status, refused.message, code)
    return answer(error.body(), error.status)


@api.exception_handler(errors.ApiError)
def wrong(request: HttpRequest, error: errors.ApiError) -> HttpResponse:
    """Answer what this API itself refuses."""
    response = answer(error.body(), error.status)
    for name, value in error.headers().items():
        response[name] = value
    return response


@api.exception_handler(RunRefused)
def run_refused(request: HttpRequest, refused: RunRefused) -> HttpResponse:
    """Answer what is asked for too often."""
    return wrong(request, errors.refused(refused))


@api.exception_handler(BackendError)
def no_embedder(request: HttpRequest, error: BackendError) -> HttpResponse:
    """Say that the embedding model cannot be had; its message is for people."""
    status = answer_status(error.code)
    return wrong(request, errors.ApiError(status, error.message, error.code))
