"""What the API's description says beside what follows from its operations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from chat.frames import FrameAdapter
from retrieval.backends.generation import GenerationSettings
from retrieval.search import SearchSettings

if TYPE_CHECKING:
    from ninja.openapi.schema import OpenAPISchema

    Json = dict[str, Any]

INTRODUCTION = """
Everything that people do on the pages of this site, for programs.

Send an API token as `Authorization: Bearer rs_…`; people make tokens under *Account → API tokens*.
Errors are problem details (RFC 9457), with a `code` for programs. Lists come in pages: `next` is
the address of the next one. What is sent with an `Idempotency-Key` can be sent again, and is done
once. Answers stream as Server-Sent Events, and can be gone on with by `Last-Event-ID`.
"""
REF = "#/components/schemas/"
SECURITY = {
    "token": {"type": "http", "scheme": "bearer", "description": "An API token, `rs_…`."},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "Of a page of the site; what changes something needs `X-CSRFToken`, too.",
    },
}


class ProblemDetails(BaseModel):
    """Why a request was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    """A sentence for people."""
    code: str
    """For programs, such as `not_found`."""
    request_id: str
    errors: list[FieldProblem] = []


class FieldProblem(BaseModel):
    """Which field is wrong."""

    pointer: str
    """As RFC 6901 has it, such as `#/metadata`."""
    loc: list[str | int]
    detail: str


PROBLEMS = {
    "401": "Nobody is signed in by this.",
    "403": "Whoever calls may not do this.",
    "404": "There is no such thing, or not for whoever calls.",
    "422": "Something is wrong with a field.",
    "429": "Too much at once; `Retry-After` says when to come back.",
    "default": "Any other error.",
}


def completed(schema: OpenAPISchema) -> OpenAPISchema:
    """Return the description with errors, streams, files, keys, and the schemas of settings."""
    components: Json = schema["components"]
    components["securitySchemes"] = SECURITY
    components["schemas"] |= _schemas()
    for operations in schema["paths"].values():
        for method, operation in operations.items():
            _complete(operation, method)
    _refer(schema["paths"])
    _refer(components["schemas"])
    return schema


@cache
def _schemas() -> Json:
    found: Json = {}
    kinds: dict[str, Json] = {
        kind.__name__: kind.model_json_schema(ref_template=REF + "{model}")
        for kind in (ProblemDetails, SearchSettings, GenerationSettings)
    }
    kinds["Frame"] = FrameAdapter.json_schema(ref_template=REF + "{model}")
    for name, kind in kinds.items():
        found |= kind.pop("$defs", {})
        found[name] = kind
    return found


def _complete(operation: Json, method: str) -> None:
    if "security" in operation:
        operation["security"] = [{name: []} for name in SECURITY]
    operation["responses"] = {str(code): each for code, each in operation["responses"].items()}
    responses: Json = operation["responses"]
    problem = {"application/problem+json": {"schema": {"$ref": f"{REF}ProblemDetails"}}}
    for code, text in PROBLEMS.items():
        responses.setdefault(code, {"description": text, "content": problem})
    if kind := operation.pop("x-stream", None):
        other = operation.pop("x-stream-or", None)
        content = {other: responses["200"]["content"][other]} if other else {}
        content["text/event-stream"] = {
            "schema": _event(kind),
            "example": 'event: token\nid: 5\ndata: {"type":"token","text":"The tower", …}\n\n',
        }
        responses["200"] = {"description": "The stream.", "content": content}
    if operation.pop("x-binary", False):
        binary = {"schema": {"type": "string", "format": "binary"}}
        for code in ("200", "206"):
            responses[code] = {"description": "The file.", "content": {"*/*": binary}}
        responses["304"] = {"description": "It is as you have it."}
    if operation.pop("x-idempotent", False):
        operation["parameters"].append(
            {
                "in": "header",
                "name": "Idempotency-Key",
                "required": False,
                "schema": {"type": "string", "minLength": 1, "maxLength": 255},
                "description": "Sent again with the same key, it is done once.",
            }
        )


def _event(kind: str) -> Json:
    """Return the schema of each event of a stream: its data are JSON of a kind."""
    data = {"anyOf": [{"$ref": REF + kind}, {"type": "null"}]}
    return {
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": {"type": "string"},
            "id": {"type": "string"},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": data,
            },
        },
    }


def _refer(part: Any) -> None:
    """Have fields that are parsed by others refer to the schemas of those."""
    if isinstance(part, list):
        for each in part:
            _refer(each)
    elif isinstance(part, dict):
        if name := part.pop("x-schema", None):
            part.pop("type", None)
            part["anyOf"] = [{"$ref": REF + name}, {"type": "null"}]
        for each in part.values():
            _refer(each)
