"""What a client is told about a message that could not be understood, or not be handled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext
from pydantic import ValidationError

from chat.client_messages import QUESTION_MAX_CHARS, storable
from chat.frames import Error
from chat.runstate import unavailable_message


def refusal(error: ValidationError, raw: str | bytes) -> Error:
    """Return the error frame for a message that could not be parsed; it ends no run."""
    first = error.errors(include_url=False)[0]
    field = str(first["loc"][-1]) if first["loc"] else ""
    code, message = describe(first["type"], field)
    return Error(code=code, message=message, recoverable=False, ask=ask_id(raw))


def unavailable(raw: str | bytes) -> Error:
    """Return the error frame for a message that came while the database was away."""
    message = unavailable_message()
    return Error(code="unavailable", message=message, recoverable=True, ask=ask_id(raw))


def describe(kind: str, field: str) -> tuple[str, str]:
    """Return the code and the sentence for a kind of pydantic error."""
    match kind, field:
        case "json_invalid", _:
            return "bad_json", gettext("The message is not valid JSON.")
        case (("union_tag_invalid" | "union_tag_not_found"), _) | ("dict_type", ""):
            return "unknown_type", gettext("The message has no known type.")
        case (("string_too_short" | "too_short"), "text"):
            return "empty_question", gettext("Please type a question.")
        case (("string_too_long" | "too_long"), "text"):
            return "question_too_long", gettext(
                "The question is too long: at most {limit} characters."
            ).format(limit=f"{QUESTION_MAX_CHARS:,}")
    return "bad_request", gettext("The field “{field}” is missing or wrong.").format(field=field)


def fault(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a field, of pydantic's error, to stand behind the field's name."""
    limits = error.get("ctx", {})
    match error.get("type"):
        case "extra_forbidden":
            return gettext("is not known here")
        case "too_short" if [*error["loc"]][-1:] == ["collections"]:
            return gettext("is empty: name at least one, or leave it out")
        case "string_too_short" | "too_short" if limits["min_length"] == 1:
            return gettext("is empty")
        case "string_too_short":
            text, limit = gettext("must have at least {limit} characters"), limits["min_length"]
        case "string_too_long":
            text, limit = gettext("may have at most {limit} characters"), limits["max_length"]
        case "too_long":
            text, limit = gettext("may have at most {limit} entries"), limits["max_length"]
        case _:
            return str(error["msg"]).removeprefix("Value error, ")
    return text.format(limit=f"{limit:,}")


def ask_id(raw: str | bytes) -> str | None:
    """Return the client's id of a question, if the message has one."""
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not message.get("id"):
        return None
    return storable(str(message["id"]))[:64]
