"""Logging: one line an event on standard error, for people, or as JSON for machines.

What is written by `logging` and by structlog takes the same way; both carry what is bound to the
context, such as the run. Nothing that people ask, nor what they get to read, is in a line.
"""

from __future__ import annotations

import sys
from typing import Any, TextIO

import structlog
from django.core.exceptions import ImproperlyConfigured
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor

from ragsite.log_contents import WithoutContents, traceback_of, without_contents

FORMATS = ("text", "json")
SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)
# Libraries that tell of what they are given to do, at least when asked for details.
QUIET = (
    "aiohttp", "asyncio", "cohere", "daphne", "fern", "httpcore", "httpx", "httpx2", "openai",
    "procrastinate", "psycopg", "redis", "urllib3",
)  # fmt: skip


def configure(level: str, form: str, *, contents: bool = False) -> dict[str, Any]:
    """Send structlog's events to `logging`, and return the value of `LOGGING`.

    With `contents`, messages of errors are written whatever they hold. Raises ImproperlyConfigured
    for a format that is not known.
    """
    if form not in FORMATS:
        raise ImproperlyConfigured(
            f"LOG_FORMAT={form} is not known; it can be {', '.join(FORMATS)}."
        )
    kept: tuple[Processor, ...] = () if contents else (without_contents,)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            *kept,
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
                "processors": [
                    ProcessorFormatter.remove_processors_meta,
                    *renderers(form, contents),
                ],
            }
        },
        "filters": {"without_contents": {"()": WithoutContents}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": [] if contents else ["without_contents"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
            **{name: {"level": "WARNING"} for name in QUIET},
        },
    }


def on_one_line(logger: Any, method: str, event: EventDict) -> EventDict:
    """Spell out control characters, so that a name with a line's end in it makes no other line."""
    for key, value in event.items():
        if isinstance(value, str) and not (value.isprintable() or key in {"exception", "stack"}):
            event[key] = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in value)
    return event


def renderers(form: str, contents: bool = False) -> list[Processor]:
    """Return what makes a line of an event.

    Tracebacks are without local variables, which may hold what people ask.
    """
    if form == "json":
        tracebacks: Processor = (
            structlog.processors.format_exc_info
            if contents
            else structlog.processors.ExceptionRenderer(traceback_of)
        )
        return [tracebacks, structlog.processors.JSONRenderer(default=str)]

    def plain(out: TextIO, exc_info: Any) -> None:
        out.write(f"\n{traceback_of(exc_info)}")

    return [
        on_one_line,
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            exception_formatter=structlog.dev.plain_traceback if contents else plain,
        ),
    ]
