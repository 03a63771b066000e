"""Logging: one line an event on standard error, for people, or as JSON for machines.

What is written by `logging` and by structlog takes the same way; both carry what is bound to the
context, such as the run.
"""

from __future__ import annotations

import sys
from typing import Any

import structlog
from django.core.exceptions import ImproperlyConfigured
from structlog.stdlib import ProcessorFormatter
from structlog.typing import Processor

FORMATS = ("text", "json")
SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure(level: str, form: str) -> dict[str, Any]:
    """Send structlog's events to `logging`, and return the value of `LOGGING`.

    Raises ImproperlyConfigured for a format that is not known.
    """
    if form not in FORMATS:
        raise ImproperlyConfigured(
            f"LOG_FORMAT={form} is not known; it can be {', '.join(FORMATS)}."
        )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.PositionalArgumentsFormatter(),
            ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": ProcessorFormatter,
                "foreign_pre_chain": SHARED,
                "processors": [ProcessorFormatter.remove_processors_meta, *renderers(form)],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
            "daphne": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "procrastinate": {"level": "WARNING"},
        },
    }


def renderers(form: str) -> list[Processor]:
    """Return what makes a line of an event.

    Tracebacks are without local variables, which may hold what people ask.
    """
    if form == "json":
        return [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=str),
        ]
    return [
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    ]
