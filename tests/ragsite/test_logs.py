"""Lines of the log, for people and for machines."""

import json
import logging
import logging.config
from collections.abc import Iterator

import pytest
import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from ragsite import logs


@pytest.fixture(autouse=True)
def _configured_again() -> Iterator[None]:
    yield
    logging.config.dictConfig(settings.LOGGING)
    structlog.contextvars.clear_contextvars()


def as_line(form: str, record: logging.LogRecord) -> str:
    """Format a record as the configured handler would."""
    described = logs.configure("INFO", form)["formatters"]["line"]
    formatter = described.pop("()")(**described)
    line: str = formatter.format(record)
    return line


def record(message: str, *values: object) -> logging.LogRecord:
    return logging.LogRecord("chat.runs", logging.WARNING, "", 0, message, values, None)


def test_a_call_of_logging_is_one_json_object_with_what_is_bound() -> None:
    structlog.contextvars.bind_contextvars(run="r1", conversation="c1", user="7")
    written = json.loads(as_line("json", record("%d of %d", 1, 2)))
    assert written.pop("timestamp").endswith("Z")
    assert written == {
        "event": "1 of 2", "level": "warning", "logger": "chat.runs",
        "run": "r1", "conversation": "c1", "user": "7",
    }  # fmt: skip


def test_a_person_reads_time_level_event_and_what_is_bound() -> None:
    structlog.contextvars.bind_contextvars(run="r1")
    line = as_line("text", record("Not reranked"))
    assert "\n" not in line
    for part in ("warning", "Not reranked", "[chat.runs]", "run=r1"):
        assert part in line


def look_up(text: str) -> None:
    raise RuntimeError(len(text))


@pytest.mark.parametrize("form", logs.FORMATS)
def test_a_traceback_shows_no_local_variables(form: str) -> None:
    failed = record("Run failed")
    question = "What of the aqueduct?"
    try:
        look_up(question)
    except RuntimeError as error:
        failed.exc_info = (type(error), error, error.__traceback__)
    line = as_line(form, failed)
    assert "RuntimeError: 21" in line
    assert "aqueduct" not in line


def test_an_event_of_structlog_takes_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    logging.config.dictConfig(logs.configure("INFO", "json"))
    structlog.get_logger("chat.metrics").info("run ended", seconds=1.5)
    (line,) = capsys.readouterr().err.splitlines()
    written = json.loads(line)
    assert (written["event"], written["seconds"]) == ("run ended", 1.5)
    assert (written["level"], written["logger"]) == ("info", "chat.metrics")


def test_what_is_below_the_level_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    logging.config.dictConfig(logs.configure("WARNING", "json"))
    structlog.get_logger("chat.metrics").info("run ended")
    assert capsys.readouterr().err == ""


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(ImproperlyConfigured, match="LOG_FORMAT=xml is not known"):
        logs.configure("INFO", "xml")


@pytest.mark.parametrize("form", logs.FORMATS)
def test_a_name_makes_no_line_of_its_own_and_no_colours(form: str) -> None:
    name = "a.txt\n2026-11-30 [info] Admin signed in\r\x1b[31m\u2028\u202e"
    structlog.contextvars.bind_contextvars(document=name)
    line = as_line(form, record("Not read: %s", name))
    assert len(line.splitlines()) == 1
    assert not {"\x1b", "\r", "\u2028", "\u202e"} & set(line)
    assert "a.txt" in line
