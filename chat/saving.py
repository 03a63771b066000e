"""Saving what runs have made: the new frames of all runs of this process in one transaction.

A transaction for each run, a few times a second, cost more than the answers themselves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import orjson
from django.conf import settings
from django.db import DatabaseError, DataError, IntegrityError

from chat.frames import Citation, Grounding, SearchResults, Status, Token, WarningFrame
from chat.runlog import Batch, RunLog
from retrieval.database import Statement, execute

if TYPE_CHECKING:
    from chat.models import Run

logger = logging.getLogger(__name__)

# Between attempts while PostgreSQL takes nothing.
LONGEST_WAIT = 2.0

# Each takes a list of objects as JSON. What was saved before, by an attempt whose answer was
# lost, is left as it is.
FRAMES = """
INSERT INTO chat_runframe (run_id, seq, payload)
SELECT run, seq, payload FROM json_to_recordset(%s) AS new (run uuid, seq int, payload jsonb)
ON CONFLICT DO NOTHING
"""
TEXTS = """
UPDATE chat_message SET text = new.text
FROM json_to_recordset(%s) AS new (answer uuid, text text) WHERE chat_message.id = new.answer
"""
# A chunk that is gone by now leaves its quote.
CITATIONS = """
INSERT INTO chat_citation (message_id, ordinal, index, chunk_id, version_id, title, page, quote,
  quote_start, quote_end, span_start, span_end)
SELECT answer, new.ordinal, new.index, chunk.id, chunk.version_id, title, page, quote, quote_start,
  quote_end, span_start, span_end
FROM json_to_recordset(%s) AS new (answer uuid, ordinal int, index int, chunk uuid, title text,
  page int, quote text, quote_start int, quote_end int, span_start int, span_end int)
LEFT JOIN retrieval_chunk AS chunk ON chunk.id = new.chunk
ON CONFLICT DO NOTHING
"""
CANDIDATES = """
INSERT INTO chat_candidate (run_id, rank, index, chunk_id, title, page, snippet, scores)
SELECT run, rank, index, chunk.id, title, page, snippet, scores
FROM json_to_recordset(%s) AS new (run uuid, rank int, index int, chunk uuid, title text, page int,
  snippet text, scores jsonb)
LEFT JOIN retrieval_chunk AS chunk ON chunk.id = new.chunk
ON CONFLICT DO NOTHING
"""
WRITTEN = """
UPDATE chat_run SET written = new.written
FROM json_to_recordset(%s) AS new (run uuid, written jsonb) WHERE chat_run.id = new.run
"""
WITHOUT_SOURCES = """
UPDATE chat_run SET without_sources = true
FROM json_to_recordset(%s) AS new (run uuid) WHERE chat_run.id = new.run
"""
# The sentence that was found may be in another chunk of the same passage.
SUPPORT = """
UPDATE chat_citation SET support = new.support, support_score = new.score, quote = new.quote,
  quote_start = new.quote_start, quote_end = new.quote_end, page = new.page,
  chunk_id = COALESCE(chunk.id, chat_citation.chunk_id)
FROM json_to_recordset(%s) AS new (answer uuid, ordinal int, support text, score float, chunk uuid,
  page int, quote text, quote_start int, quote_end int)
LEFT JOIN retrieval_chunk AS chunk ON chunk.id = new.chunk
WHERE chat_citation.message_id = new.answer AND chat_citation.ordinal = new.ordinal
"""
GROUNDED = """
UPDATE chat_run SET grounding = new.verdict
FROM json_to_recordset(%s) AS new (run uuid, verdict text) WHERE chat_run.id = new.run
"""
# What checking an answer or naming its conversation took is known when it was charged for.
CHECKED = """
UPDATE limits_charge SET tokens = limits_charge.tokens + new.tokens
FROM json_to_recordset(%s) AS new (run uuid, tokens bigint) WHERE limits_charge.run = new.run
"""
# A name that somebody gave stays.
TITLED = """
UPDATE chat_conversation SET title = new.title, titled_by = 'generator'
FROM json_to_recordset(%s) AS new (conversation uuid, title text)
WHERE chat_conversation.id = new.conversation AND chat_conversation.titled_by = 'question'
"""
# A run whose lease ran out, while PostgreSQL was away say, was not interrupted after all.
ENDINGS = """
UPDATE chat_run SET state = new.state, finished_at = now(), model = new.model,
  finish_reason = new.finish_reason, error_code = new.error_code,
  error_message = new.error_message, usage = new.usage, timings = new.timings
FROM json_to_recordset(%s) AS new (run uuid, state text, model text, finish_reason text,
  error_code text, error_message text, usage jsonb, timings jsonb)
WHERE chat_run.id = new.run AND chat_run.state IN ('queued', 'running', 'interrupted')
"""
# What an answer took counts against the limits of whoever asked, from now on.
CHARGES = """
UPDATE limits_charge SET tokens = new.tokens
FROM json_to_recordset(%s) AS new (run uuid, tokens bigint) WHERE limits_charge.run = new.run
"""


class Saver:
    """Saves the runs of this process until there are none."""

    def __init__(self, logs: Callable[[], Collection[RunLog]]) -> None:
        self._logs = logs
        self._due = asyncio.Event()
        self._failures = 0

    def soon(self) -> None:
        """Save now: an end is waited for."""
        self._due.set()

    async def work(self) -> None:
        """Save every RUN_SAVE_SECONDS, or when an end is due; what fails is tried again."""
        while self._logs():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), settings.RUN_SAVE_SECONDS)
            self._due.clear()
            batches = [batch for log in self._logs() if (batch := log.unsaved())]
            if batches and not await self._save(batches):
                self._failures += 1
                await asyncio.sleep(min(LONGEST_WAIT, settings.RUN_SAVE_SECONDS * self._failures))

    async def _save(self, batches: list[Batch]) -> bool:
        """Return whether all could be saved, or never will be."""
        try:
            await save(batches)
        except (DataError, IntegrityError) as error:
            # One run that cannot be saved, its conversation was deleted say, holds up no other.
            if len(batches) == 1:
                logger.warning("Run %s cannot be saved: %s", batches[0].log.run, error)
                batches[0].log.saved(batches[0])
                return True
            return all([await self._save([batch]) for batch in batches])
        except DatabaseError as error:
            if not self._failures:
                runs = ", ".join(str(batch.log.run) for batch in batches)
                logger.warning("Could not save, trying again: %s Runs: %s", error, runs)
            return False
        if self._failures:
            logger.warning("Saved %d runs after %d failures.", len(batches), self._failures)
            self._failures = 0
        for batch in batches:
            batch.log.saved(batch)
        return True


async def save(batches: Collection[Batch]) -> None:
    """Write batches in one transaction. Raises DatabaseError."""
    grown = [batch.log for batch in batches if batch.of(Token)]
    tables: dict[str, Collection[object]] = {
        FRAMES: [
            {"run": frame.run, "seq": frame.seq, "payload": orjson.Fragment(frame.to_json())}
            for batch in batches
            for frame in batch.frames
        ],
        TEXTS: [{"answer": log.answer, "text": log.text} for log in grown],
        CITATIONS: [row for batch in batches for row in citations(batch)],
        SUPPORT: [row for each in batches for row in support(each.log, each.of(Grounding))],
        CANDIDATES: [row for batch in batches for row in candidates(batch)],
        WRITTEN: [row for batch in batches for row in written(batch)],
        WITHOUT_SOURCES: [{"run": each.log.run} for each in batches if is_without_sources(each)],
        GROUNDED: [row for each in batches for row in grounded(each.log, each.of(Grounding))],
        ENDINGS: (ended := [batch.log.outcome for batch in batches if batch.log.outcome]),
        CHARGES: [{"run": each["run"], "tokens": each["tokens"]} for each in ended],
    }
    await _execute(tables)


async def save_grounding(log: RunLog, grounding: Grounding, tokens: int = 0) -> None:
    """Write what was found out about an answer when it had ended. Raises DatabaseError."""
    await _execute(
        {
            SUPPORT: list(support(log, [grounding])),
            GROUNDED: list(grounded(log, [grounding])),
            CHECKED: [{"run": log.run, "tokens": tokens}] if tokens else [],
        }
    )


async def save_title(run: Run, title: str, tokens: int) -> None:
    """Write the title that the generator gave a run's conversation, if any.

    Raises DatabaseError.
    """
    await _execute(
        {
            TITLED: [{"conversation": run.conversation_id, "title": title}] if title else [],
            CHECKED: [{"run": run.id, "tokens": tokens}] if tokens else [],
        }
    )


async def _execute(tables: Mapping[str, Collection[object]]) -> None:
    statements = [
        Statement(sql, [orjson.dumps(rows).decode()]) for sql, rows in tables.items() if rows
    ]
    if statements:
        await execute(*statements)


def citations(batch: Batch) -> Iterable[dict[str, object]]:
    """Return the rows of a batch's citations."""
    cited = [frame for frame in batch.frames if isinstance(frame, Citation)]
    for ordinal, frame in enumerate(cited, batch.citations_before):
        yield {
            "answer": batch.log.answer,
            "ordinal": ordinal,
            "index": frame.index,
            "chunk": frame.source_id,
            "title": frame.title,
            "page": frame.page,
            "quote": frame.quote,
            "quote_start": frame.place and frame.place[0],
            "quote_end": frame.place and frame.place[1],
            "span_start": frame.span[0],
            "span_end": frame.span[1],
        }


def support(log: RunLog, groundings: Iterable[Grounding]) -> Iterable[dict[str, object]]:
    """Return the rows of how well an answer's citations support it."""
    for grounding in groundings:
        for each in grounding.citations:
            yield {
                "answer": log.answer,
                "ordinal": each.citation,
                "support": each.support,
                "score": each.score,
                "chunk": each.source_id,
                "page": each.page,
                "quote": each.quote,
                "quote_start": each.place and each.place[0],
                "quote_end": each.place and each.place[1],
            }


def grounded(log: RunLog, groundings: Iterable[Grounding]) -> Iterable[dict[str, object]]:
    """Return the row of the verdict on an answer."""
    for grounding in groundings:
        yield {"run": log.run, "verdict": grounding.verdict}


def written(batch: Batch) -> Iterable[dict[str, object]]:
    """Return the row of what is searched for in place of a question, if there is more of it."""
    if any(isinstance(frame, Status) and frame.written for frame in batch.frames):
        yield {"run": batch.log.run, "written": batch.log.written}


def is_without_sources(batch: Batch) -> bool:
    """Whether a batch says that the answer is the model's own."""
    return any(
        isinstance(frame, WarningFrame) and frame.code == "without_sources"
        for frame in batch.frames
    )


def candidates(batch: Batch) -> Iterable[dict[str, object]]:
    """Return the rows of what retrieval found, as it was ranked."""
    for frame in batch.frames:
        if isinstance(frame, SearchResults):
            for rank, source in enumerate(frame.results, 1):
                yield {
                    "run": batch.log.run,
                    "rank": rank,
                    "index": source.index,
                    "chunk": source.source_id,
                    "title": source.title,
                    "page": source.page,
                    "snippet": source.snippet,
                    "scores": source.scores,
                }
