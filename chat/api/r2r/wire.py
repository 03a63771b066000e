"""R2R on the wire: `{"results": …}`, its errors, and bodies whose type is never said rightly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from uuid import UUID, uuid5

from django.http import HttpResponse
from django.utils.translation import gettext
from ninja.errors import HttpError

from chat.api import uploading
from chat.api.streaming import to_json

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from chat.api.refusing import Refusal

JSON = "application/json"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
MOST = 1000
# What the UUIDs of accounts are made in, which have numbers here.
NAMESPACE = UUID("6b1f0f6e-5d0c-4a6b-9a36-1d0b3f5f7c11")


class Form(NamedTuple):
    """What a form says: the last value of each field, and its files."""

    fields: dict[str, str]
    files: Sequence[UploadedFile[Any]]


class Page:
    """The part of a listing that is asked for, by `offset` and `limit`, and only some `ids`."""

    def __init__(self, request: HttpRequest) -> None:
        """Read the query. Raises HttpError."""
        self.offset = _whole(request, "offset", 0, 10**9)
        self.limit = _whole(request, "limit", 100, MOST, least=1)
        try:
            self.ids = [UUID(each) for each in request.GET.getlist("ids")]
        except ValueError:
            refuse("ids", gettext("must be UUIDs"))

    def of(self, found: QuerySet[Any]) -> tuple[list[Any], int]:
        """Return the rows that are asked for, and how many there are in all."""
        if self.ids:
            found = found.filter(pk__in=self.ids)
        return list(found[self.offset : self.offset + self.limit]), found.count()


def _whole(request: HttpRequest, name: str, default: int, most: int, least: int = 0) -> int:
    said = request.GET.get(name, str(default))
    if not (said.isascii() and said.isdigit() and len(said) < 12 and least <= int(said) <= most):
        refuse(
            name, gettext("must be a number from {least} to {most}").format(least=least, most=most)
        )
    return int(said)


def flag(request: HttpRequest, name: str) -> bool:
    """Whether a query says yes, in whatever way a client writes it."""
    return request.GET.get(name, "").lower() in ("true", "1")


def results(value: object, *, total: int | None = None, status: int = 200) -> HttpResponse:
    """Return a response with results, and how many there are in all where they are a listing."""
    body = {"results": value} if total is None else {"results": value, "total_entries": total}
    return HttpResponse(to_json(body), status=status, content_type=JSON)


def success() -> HttpResponse:
    """Return what R2R says of what is done: its clients need a body."""
    return results({"success": True})


def detail(_: HttpRequest, refusal: Refusal) -> HttpResponse:
    """Return a refusal as the SDK makes an exception of it."""
    body = {"detail": {"message": refusal.message, "error_type": refusal.code}}
    return HttpResponse(to_json(body), status=refusal.status, content_type=JSON)


def refuse(field: str, message: str) -> NoReturn:
    """Refuse a request because of one of its fields. Raises HttpError."""
    raise HttpError(422, f"{field}: {message}.")


def not_available(message: str) -> NoReturn:
    """Refuse what R2R can do and this site cannot. Raises HttpError."""
    raise HttpError(501, message)


def body_of(request: HttpRequest) -> Any:
    """Return a body of JSON, whatever it is said to be. Raises HttpError, RequestDataTooBig."""
    return loads("body", request.body)


def object_of(request: HttpRequest) -> dict[str, Any]:
    """Return a body that is a JSON object. Raises HttpError."""
    body = body_of(request)
    if not isinstance(body, dict):
        refuse("body", gettext("must be a JSON object"))
    return body


def loads(field: str, said: str | bytes) -> Any:
    """Return what JSON says. Raises HttpError."""
    try:
        return json.loads(said, parse_constant=_no_number)
    except (ValueError, RecursionError):
        refuse(field, gettext("is not JSON"))


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def form_of(request: HttpRequest) -> Form:
    """Return a form, which may be as large as a file is.

    Raises UploadError for a file that is not taken, and what Django does of no form.
    """
    files: Sequence[UploadedFile[Any]] = ()
    if request.content_type == "multipart/form-data":
        received = uploading.receive(request)
        if received.refused:
            raise received.refused[0][1]
        files = received.files
    else:
        uploading.read_body(request)
    return Form({name: str(request.POST[name]) for name in request.POST}, files)


def text_of(request: HttpRequest, field: str) -> object:
    """Return one text that is sent as a field of a form, or of JSON. Raises HttpError."""
    if request.content_type in FORMS:
        return form_of(request).fields.get(field)
    return object_of(request).get(field)


def person_id(key: int | None) -> UUID:
    """Return the UUID of a person's account, the nil one for nobody."""
    return UUID(int=0) if key is None else uuid5(NAMESPACE, f"people/{key}")
