"""What goes wrong, as OpenAI's clients know it: `{"error": {message, type, param, code}}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from chat.api.refusing import answer_status
from chat.refusals import fault

if TYPE_CHECKING:
    from pydantic import ValidationError

    from chat.frames import Error
    from chat.runstate import RunRefused

# Refusals of questions, as OpenAI has them; whatever is not here is wrong with the question.
STATUSES = {
    "bad_settings": 400,
    "busy": 409,
    "draining": 503,
    "empty_question": 400,
    "assistant_unavailable": 403,
    "model_not_allowed": 403,
    "not_found": 404,
    "question_too_long": 400,
    "quota_exceeded": 429,
    "rate_limited": 429,
    "too_many_runs": 429,
    "unavailable": 503,
    "unknown_assistant": 404,
    "unknown_collection": 400,
}
# The names that OpenAI gives the same.
CODES = {
    "context_too_long": "context_length_exceeded",
    "question_too_long": "string_above_max_length",
    "quota_exceeded": "insufficient_quota",
    "rate_limited": "rate_limit_exceeded",
    "too_many_runs": "rate_limit_exceeded",
    "unknown_assistant": "model_not_found",
}
PARAMS = {"unknown_assistant": "model", "unknown_collection": "collections"}
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class ApiError(Exception):
    """A request that is answered with an error.

    `retry_after` is in seconds; `repeatable` tells the SDK whether to try again by itself, None
    leaves that to the status.
    """

    def __init__(  # noqa: PLR0913 - an error has as many fields
        self,
        status: int,
        message: str,
        code: str | None = None,
        *,
        param: str | None = None,
        retry_after: float = 0,
        repeatable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.retry_after = retry_after
        self.repeatable = repeatable

    def body(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "error": {
                "message": self.message,
                "type": _type(self.status),
                "param": self.param,
                "code": self.code,
            }
        }

    def headers(self) -> dict[str, str]:
        """Return what tells the SDK whether and when to try again."""
        found = {}
        if self.retry_after:
            found["Retry-After"] = str(max(1, round(self.retry_after)))
        if self.repeatable is not None:
            found["x-should-retry"] = "true" if self.repeatable else "false"
        return found


def _type(status: int) -> str:
    return TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")


def refused(refusal: RunRefused) -> ApiError:
    """Return what a question that starts no run is answered with; nothing was spent on it."""
    return ApiError(
        STATUSES.get(refusal.code, 400),
        refusal.message,
        CODES.get(refusal.code, refusal.code),
        param=PARAMS.get(refusal.code) or _field(refusal),
        retry_after=refusal.retry_in_ms / 1000,
        repeatable=refusal.recoverable,
    )


def _field(refusal: RunRefused) -> str | None:
    """Return the field that a refusal of settings begins with."""
    field, colon, _ = refusal.message.partition(":")
    return field if refusal.code == "bad_settings" and colon and " " not in field else None


def failed(error: Error) -> ApiError:
    """Return what an answer that broke off is answered with; asking again costs once more."""
    return ApiError(
        answer_status(error.code),
        error.message,
        CODES.get(error.code, error.code),
        retry_after=error.retry_in_ms / 1000,
        repeatable=False,
    )


def unknown_model(model: str) -> ApiError:
    """Return the error of a model that is none of ours, or not open to whoever asks."""
    message = gettext("The model “{model}” does not exist or is not open to you.")
    return ApiError(404, message.format(model=model), "model_not_found", param="model")


def invalid(error: ValidationError) -> ApiError:
    """Return the error of a body that is not as it should be, with the field that is wrong."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return ApiError(400, gettext("The body is not valid JSON."), "invalid_json")
    param = ".".join(str(part) for part in first["loc"]) or None
    return bad(param, fault(first))


def bad(param: str | None, message: str, code: str = "invalid_value") -> ApiError:
    """Return the error of a field that is wrong."""
    where = f"{param}: " if param else ""
    return ApiError(400, f"{where}{message}", code, param=param)
