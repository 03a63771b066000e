"""Why a request is refused: one account of it, which each API puts into its own shape."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFilesSent,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext
from ninja.errors import HttpError, ValidationError

from chat.api.credentials import NotAllowedError, NotSignedInError
from chat.refusals import fault
from chat.runstate import RunRefused, unavailable_message
from retrieval.backends.generation import GenerationSettingsError
from retrieval.ingestion.metadata import MetadataError, checked
from retrieval.ingestion.upload_limits import RequestTooLargeError
from retrieval.ingestion.uploads import UploadError
from retrieval.search import SearchSettingsError

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from ninja import NinjaAPI

    from chat.frames import Error

    Shape = Callable[[HttpRequest, "Refusal"], HttpResponse]

logger = logging.getLogger(__name__)

RUNS = {
    "not_found": 404,
    "busy": 409,
    "rate_limited": 429,
    "quota_exceeded": 429,
    "too_many_runs": 429,
    "draining": 503,
    "unavailable": 503,
    "assistant_unavailable": 403,
    "model_not_allowed": 403,
}
# Answers that broke off: by what was asked (4xx), by whoever writes them, or because we end.
ANSWERS = {
    "bad_request": 400,
    "bad_settings": 400,
    "content_filter": 400,
    "context_too_long": 400,
    "signed_out": 401,
    "access_lost": 403,
    "not_found": 404,
    "dropped": 502,
    "empty": 502,
    "malformed": 502,
    "provider_error": 502,
    "unauthorized": 502,
    "unreachable": 502,
    "interrupted": 503,
    "rate_limited": 503,
    "unavailable": 503,
    "timeout": 504,
}
UPLOADS = {"too-large": 413, "type-not-allowed": 415, "quota-exceeded": 429, "not-stored": 500}
CODES = {413: "too_large", 415: "unsupported_media_type"}
# When to come back, where nothing else says so.
RETRY_SECONDS = 5


class FieldError(Exception):
    """A field is wrong; `loc` is the way to it, such as ("body", "name"), the text for people."""

    def __init__(self, loc: Sequence[str | int], message: str) -> None:
        super().__init__(message)
        self.loc = loc
        self.message = message


class ConflictError(Exception):
    """This does not go with how things stand; the text is for people."""

    def __init__(self, message: str, code: str = "conflict", status: int = 409) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status


class AnswerError(Exception):
    """An answer broke off before anything of it was sent."""

    def __init__(self, frame: Error) -> None:
        super().__init__(frame.message)
        self.frame = frame


@dataclass(frozen=True)
class Refusal:
    """What a caller is told: the status, a code for programs, and a sentence for people.

    `errors` say which fields are wrong: each has `loc`, the way to the field, and `message`.
    """

    status: int
    code: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[Mapping[str, Any]] = ()


def checked_metadata(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a body says as `metadata`, as it is stored. Raises FieldError."""
    try:
        return checked(said)
    except MetadataError as error:
        raise FieldError(("body", "metadata"), str(error)) from error


def status(refused: RunRefused) -> int:
    """Return the HTTP status of a request that starts no run; 422 for what is wrong with it."""
    return RUNS.get(refused.code, 422)


def of_run(refused: RunRefused) -> Refusal:
    """Return a refusal of a question."""
    code, headers = status(refused), {}
    if code in (429, 503):
        seconds = math.ceil(refused.retry_in_ms / 1000) or RETRY_SECONDS
        headers["Retry-After"] = str(seconds)
    errors = []
    if isinstance(refused.__cause__, SearchSettingsError | GenerationSettingsError):
        part = "settings" if isinstance(refused.__cause__, SearchSettingsError) else "generation"
        path = refused.__cause__.field.split(".") if refused.__cause__.field else []
        errors = [{"loc": ["body", part, *path], "message": refused.__cause__.message}]
    return Refusal(code, refused.code, refused.message, headers, errors)


def answer_status(code: str) -> int:
    """Return the HTTP status of an answer that broke off; 500 for a fault of ours."""
    return ANSWERS.get(code, 500)


def of_answer(frame: Error) -> Refusal:
    """Return a refusal of what could not be answered."""
    seconds = math.ceil(frame.retry_in_ms / 1000)
    headers = {"Retry-After": str(seconds)} if seconds else {}
    return Refusal(answer_status(frame.code), frame.code, frame.message, headers)


def of_upload(error: UploadError) -> Refusal:
    """Return a refusal of a file."""
    code = UPLOADS.get(error.code, 422)
    headers = {"Retry-After": "3600"} if code == 429 else {}
    return Refusal(code, error.code.replace("-", "_"), error.message, headers)


def of_fields(errors: Sequence[Mapping[str, Any]]) -> Refusal:
    """Return a refusal of fields that are wrong, from pydantic's errors."""
    told = [{"loc": [*each["loc"]], "message": _fault(each)} for each in errors]
    first: dict[str, Any] = told[0] if told else {"loc": [], "message": ""}
    where = ".".join(str(part) for part in first["loc"][1:])
    message = f"{where}: {first['message']}" if where else first["message"]
    return Refusal(422, "invalid", message, errors=told)


def _fault(error: Mapping[str, Any]) -> str:
    if error.get("type") == "missing" and [*error["loc"]] == ["body"]:
        return gettext("The body is empty: send a JSON object.")
    return fault(error)


def refusal(error: Exception) -> Refusal:  # noqa: PLR0911 - one for each kind
    """Return what a caller is told of an error; its own text only if that is for them."""
    match error:
        case NotSignedInError():
            return Refusal(401, "not_signed_in", error.message, {"WWW-Authenticate": "Bearer"})
        case NotAllowedError():
            return Refusal(403, error.code, error.message)
        case RunRefused():
            return of_run(error)
        case AnswerError():
            return of_answer(error.frame)
        case UploadError():
            return of_upload(error)
        case FieldError():
            return of_fields([{"loc": error.loc, "msg": error.message}])
        case ConflictError():
            return Refusal(error.status, error.code, error.message)
        case RequestTooLargeError():
            return Refusal(413, "too_large", str(error))
    if isinstance(error, HttpError | ValidationError):
        return of_ninja(error)
    return of_django(error)


def of_ninja(error: HttpError | ValidationError) -> Refusal:
    """Return what a caller is told of an error in what was sent."""
    if isinstance(error, ValidationError):
        return of_fields([{**each, "loc": _in_body(each["loc"])} for each in error.errors])
    match error.__cause__:  # of what the body was parsed by
        case HttpError() as cause:
            return of_ninja(cause)
        case ValueError() | RecursionError():
            return Refusal(400, "bad_json", gettext("The body is not valid JSON."))
    code = CODES.get(error.status_code, "bad_request")
    return Refusal(error.status_code, code, error.message)


def _in_body(loc: Sequence[str | int]) -> Sequence[str | int]:
    """Return the way to a field without the name that the body has in Python."""
    return ["body", *loc[2:]] if loc[0] == "body" else loc


def of_django(error: Exception) -> Refusal:  # noqa: PLR0911
    """Return what a caller is told of an error that Django raises, or nobody expected."""
    match error:
        case Http404():
            return Refusal(404, "not_found", gettext("There is no such thing here."))
        case PermissionDenied():
            return Refusal(403, "not_allowed", gettext("You may not do this."))
        case RequestDataTooBig():
            return Refusal(413, "too_large", gettext("This request is too large."))
        case TooManyFilesSent():
            return Refusal(413, "too_many", gettext("These are too many files at once."))
        case MultiPartParserError() | SuspiciousOperation():
            return Refusal(400, "bad_request", gettext("This request cannot be read."))
        case OperationalError() | InterfaceError():
            logger.warning("A request could not be answered: %s", error)
            headers = {"Retry-After": str(RETRY_SECONDS)}
            return Refusal(503, "unavailable", unavailable_message(), headers)
    logger.error("A request could not be answered", exc_info=error)
    return Refusal(500, "internal", gettext("Something went wrong here."))


def install(api: NinjaAPI, shape: Shape) -> None:
    """Have an API answer every error by `shape`."""

    def handle(request: HttpRequest, error: Any) -> HttpResponse:
        return shaped(shape, request, refusal(error))

    # Those that are there already would come before the one for all.
    for kind in (Exception, Http404, HttpError, ValidationError):
        api.add_exception_handler(kind, handle)


def shaped(shape: Shape, request: HttpRequest, refused: Refusal) -> HttpResponse:
    """Return a refusal in the shape of an API, with its headers."""
    response = shape(request, refused)
    for header, value in refused.headers.items():
        response.headers.setdefault(header, value)
    return response
