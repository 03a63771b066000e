"""Requests that are sent again, because nobody knows whether they arrived: done once.

The header `Idempotency-Key` of the IETF's draft: the same key with the same request gets the same
response for a day, by whomever it is sent for the same person.
"""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext
from ninja.responses import NinjaJSONEncoder, Status
from ninja.signature.utils import get_typed_signature

from chat.accounts.models import RememberedRequest
from chat.api import uploading
from chat.api.refusing import ConflictError, FieldError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

    from chat.api.credentials import Request

Operation = TypeVar("Operation", bound="Callable[..., Any]")

HEADER = "Idempotency-Key"
REPLAYED = {"Idempotent-Replayed": "true"}
LONGEST = 255
# One that has not ended after so long never will: its process is gone.
LOST = timedelta(minutes=10)


def idempotent(operation: Operation) -> Operation:
    """Let an operation, which returns a status with a model, be sent again with a key."""

    @wraps(operation)
    def once(request: Request, *args: Any, **values: Any) -> Any:
        key = request.headers.get(HEADER)
        if key is None:
            return operation(request, *args, **values)
        if not 0 < len(key) <= LONGEST or not key.isprintable():
            message = gettext("A key has 1 to {most} characters.").format(most=LONGEST)
            raise FieldError(("header", HEADER), message)
        remembered = _begin(request, key)
        if remembered.status:
            return _again(remembered)
        try:
            result = operation(request, *args, **values)
        except BaseException:
            # What was refused may be right the next time.
            remembered.delete()
            raise
        _remember(remembered, result)
        return result

    # Its annotations are names of the operation's own module.
    once.__signature__ = get_typed_signature(operation)  # type: ignore[attr-defined]
    once._ninja_contribute_to_operation = [_describe]  # type: ignore[attr-defined]
    return cast("Operation", once)


def _describe(operation: Any) -> None:
    """Let the API's description know that a key may be sent."""
    operation.openapi_extra = {**(operation.openapi_extra or {}), "x-idempotent": True}


def _begin(request: Request, key: str) -> RememberedRequest:
    """Return what is known of a key, stored now if nothing was. Raises ConflictError."""
    own = RememberedRequest.objects.filter(user=request.user, key=key)
    now = timezone.now()
    own.filter(created_at__lt=now - RememberedRequest.KEPT).delete()
    own.filter(status=0, created_at__lt=now - LOST).delete()
    fingerprint = _fingerprint(request)
    try:
        with transaction.atomic():
            return RememberedRequest.objects.create(
                user=request.user, key=key, fingerprint=fingerprint
            )
    except IntegrityError:
        known = own.first()
    if known is None:  # it has failed just now
        return _begin(request, key)
    if known.fingerprint != fingerprint:
        message = gettext("This key was sent with another request before.")
        raise ConflictError(message, "idempotency_key_reused", 422)
    if not known.status:
        message = gettext("The request of this key is still being answered.")
        raise ConflictError(message, "in_progress")
    return known


def _fingerprint(request: Request) -> str:
    """Return a digest of what is asked for: two requests that are alike have the same."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type != "multipart/form-data":
        digest.update(request.body)
        return digest.hexdigest()
    uploading.receive(request)
    for name, values in sorted(request.POST.lists()):
        digest.update(repr((name, values)).encode())
    for name in sorted(request.FILES):
        for file in request.FILES.getlist(name):
            digest.update(repr((name, file.name, file.size)).encode())
            for chunk in file.chunks():
                digest.update(chunk)
            file.seek(0)
    return digest.hexdigest()


def _remember(remembered: RememberedRequest, result: Status[BaseModel]) -> None:
    remembered.status = result.status_code
    # As ninja writes it.
    remembered.body = json.dumps(result.value.model_dump(), cls=NinjaJSONEncoder)
    remembered.save(update_fields=["status", "body"])


def _again(remembered: RememberedRequest) -> HttpResponse:
    """Return the response that there was, marked as one that is repeated."""
    return HttpResponse(
        remembered.body,
        status=remembered.status,
        content_type="application/json; charset=utf-8",
        headers=REPLAYED,
    )
