"""What is sent, as JSON and in addresses, without what PostgreSQL cannot store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext
from ninja import Schema
from ninja.errors import HttpError
from ninja.parser import Parser
from pydantic import ConfigDict

from chat.client_messages import storable

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.utils.datastructures import MultiValueDict

# How NUL and halves of characters are written in JSON; the first may also stand there as it is.
UNSTORABLE = (b"\\u0000", b"\\ud", b"\\uD", b"\0", b"\xed")


class Body(Schema):
    """What is sent as JSON: a field that is not known here is a mistake."""

    model_config = ConfigDict(extra="forbid")


class StorableParser(Parser):
    """Parses JSON that says that it is JSON."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the body. Raises HttpError, ValueError."""
        if request.content_type != "application/json":
            message = gettext("Send JSON, with the header “Content-Type: application/json”.")
            raise HttpError(415, message)
        body = json.loads(request.body)
        return cleaned(body) if any(each in request.body for each in UNSTORABLE) else body

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """Return the values of an address or a form."""
        found: dict[str, Any] = super().parse_querydict(data, list_fields, request)
        return {name: cleaned(value) for name, value in found.items()}


def cleaned(value: Any) -> Any:
    """Return a value with all of its texts such that they can be stored."""
    match value:
        case str():
            return storable(value)
        case list():
            return [cleaned(each) for each in value]
        case dict():
            return {cleaned(key): cleaned(each) for key, each in value.items()}
    return value
