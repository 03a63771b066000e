"""What people are told when an answer fails: never the words of an exception or of a provider."""

from __future__ import annotations

import logging

from django.db import DatabaseError
from django.utils.translation import gettext

from chat.frames import Error
from chat.runstate import unavailable_message
from retrieval.backends.base import BackendError
from retrieval.search import SearchSettingsError

logger = logging.getLogger(__name__)


def failure(error: BaseException, of: str) -> Error:
    """Return the frame that an error ends an answer with; the log says what it was, and `of` what.

    The settings' own errors name the field that is wrong.
    """
    if isinstance(error, BackendError):
        logger.warning("%s: %s (%s)", of, error.message, error.code)
        return Error(code=error.code, message=error.message, recoverable=error.retryable)
    if isinstance(error, SearchSettingsError):
        logger.warning("%s: %s", of, error)
        return Error(code="bad_settings", message=str(error), recoverable=False)
    logger.error("%s failed", of, exc_info=error)
    if isinstance(error, DatabaseError):
        return Error(code="unavailable", message=unavailable_message(), recoverable=True)
    message = gettext("Something went wrong on our side. Please try again.")
    return Error(code="internal", message=message, recoverable=True)
