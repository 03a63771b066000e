"""The ledger of ingestion: every try at a stage of a version, with its counts and its error.

A version's stage and its ledger change in one statement, so that neither can be ahead.
"""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from retrieval.backends.base import BackendError
from retrieval.ingestion.errors import ExtractionError, FetchError, StalledError
from retrieval.models import ENDED, DocumentVersion, ErrorClass, IngestStage, Outcome, Stage

WORKER = f"{socket.gethostname()}:{os.getpid()}"[:100]
INTERNAL = "Something went wrong here; the log has the details."
STALLED = "Nothing happened here for too long."
DATABASE = "The database could not be reached."
LEFT = "The worker stopped, was killed, or lost the database here."
HOLD = """
SELECT document.id FROM retrieval_document AS document
JOIN retrieval_documentversion AS version ON version.document_id = document.id
WHERE version.id = %(version)s AND document.deleted_at IS NULL
FOR KEY SHARE OF document
"""
ADVANCE = f"""
WITH alive AS ({HOLD}), before AS (
    UPDATE retrieval_ingeststage
    SET ended_at = statement_timestamp(), outcome = %(outcome)s, message = %(message)s,
        counts = counts || %(counts)s::jsonb
    WHERE version_id = %(version)s AND ended_at IS NULL
), entered AS (
    UPDATE retrieval_documentversion AS version
    SET stage = %(stage)s, error_code = '', error_class = '', error_message = ''
    FROM alive
    WHERE version.id = %(version)s AND version.document_id = alive.id
    RETURNING version.id
)
INSERT INTO retrieval_ingeststage (
    version_id, stage, attempt, outcome, started_at, counts,
    error_code, error_class, message, worker
)
SELECT id, %(stage)s, 1 + (
    SELECT count(*) FROM retrieval_ingeststage
    WHERE version_id = %(version)s AND stage = %(stage)s
), 'running', statement_timestamp(), '{{}}', '', '', '', %(worker)s
FROM entered
"""  # noqa: S608 - made of constants
PROGRESS = """
WITH counted AS (
    UPDATE retrieval_ingeststage SET counts = counts || (
        SELECT jsonb_object_agg(key, coalesce((counts->>key)::bigint, 0) + value::bigint)
        FROM jsonb_each_text(%(added)s::jsonb)
    )
    WHERE version_id = %(version)s AND ended_at IS NULL
)
UPDATE retrieval_documentversion AS version SET embedded_count = embedded_count + %(vectors)s
FROM retrieval_document AS document
WHERE version.id = %(version)s
    AND document.id = version.document_id AND document.deleted_at IS NULL
"""


class VersionGoneError(Exception):
    """The version, or its document, was deleted while it was being ingested."""


@dataclass(frozen=True)
class Reason:
    """Why a try at a stage ended: a code for programs, a message for people."""

    code: str
    error_class: ErrorClass
    message: str


INTERRUPTED = Reason(
    "interrupted", ErrorClass.INTERNAL, "The worker stopped each time it was at this document."
)


def reason(error: BaseException) -> Reason:
    """Return what is told of an error: nothing of the text of one that is not meant for people."""
    if isinstance(error, ExtractionError):
        return Reason(error.code, ErrorClass.FILE, error.message)
    if isinstance(error, FetchError):
        return Reason(error.code, ErrorClass.ADDRESS, error.message)
    if isinstance(error, BackendError):
        return Reason(error.code, ErrorClass.PROVIDER, error.message)
    if isinstance(error, StalledError):
        return Reason("stalled", ErrorClass.INTERNAL, STALLED)
    if isinstance(error, DatabaseError):
        return Reason("database", ErrorClass.DATABASE, DATABASE)
    return Reason("internal", ErrorClass.INTERNAL, INTERNAL)


def hold(version: DocumentVersion) -> None:
    """Let nobody delete a version's document before the transaction ends.

    Raises VersionGoneError if it is deleted already.
    """
    with connection.cursor() as cursor:
        cursor.execute(HOLD, {"version": version.pk})
        if not cursor.rowcount:
            raise VersionGoneError


def take_up(version: DocumentVersion, stage: Stage) -> None:
    """Begin to work on a version at a stage; what a worker left open there ends as interrupted.

    Raises VersionGoneError.
    """
    _advance(version, stage, Outcome.INTERRUPTED, LEFT, {})


def advance(version: DocumentVersion, stage: Stage, **counts: int) -> None:
    """End the stage a version is in, with its counts, and enter the next. Raises VersionGoneError.

    To be called in the transaction that writes what the stage made.
    """
    _advance(version, stage, Outcome.DONE, "", counts)


def _advance(
    version: DocumentVersion,
    stage: Stage,
    outcome: Outcome,
    message: str,
    counts: Mapping[str, int],
) -> None:
    values: dict[str, Any] = {
        "version": version.pk, "stage": stage.value, "outcome": outcome.value, "message": message,
        "counts": json.dumps(counts), "worker": WORKER,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(ADVANCE, values)
        if not cursor.rowcount:
            raise VersionGoneError
    version.stage = stage
    version.error_code = version.error_class = version.error_message = ""


def progress(version: DocumentVersion, **added: int) -> None:
    """Add to the counts of a version's stage, in the transaction that writes what is counted.

    What was `embedded` or `copied` is added to the version's vectors, too.
    """
    vectors = added.get("embedded", 0) + added.get("copied", 0)
    values: dict[str, Any] = {"version": version.pk, "vectors": vectors, "added": json.dumps(added)}
    with connection.cursor() as cursor:
        cursor.execute(PROGRESS, values)
        if not cursor.rowcount:
            raise VersionGoneError


def finish(version: DocumentVersion) -> None:
    """End the last stage of a version that is ready, in the transaction that makes it so."""
    IngestStage.objects.filter(version=version, ended_at=None).update(
        ended_at=timezone.now(), outcome=Outcome.DONE
    )


def fail(version_id: uuid.UUID, why: Reason) -> None:
    """End a version that cannot become ready; an older version stays current."""
    with transaction.atomic():
        failed = DocumentVersion.objects.filter(pk=version_id).exclude(stage=Stage.READY)
        failed.update(
            stage=Stage.FAILED, error_code=why.code, error_class=why.error_class,
            error_message=why.message, finished_at=timezone.now(),
        )  # fmt: skip
        _end(version_id, Outcome.FAILED, why)


def postpone(version_id: uuid.UUID, why: Reason) -> None:
    """Say why a version waits; it will be tried again."""
    with transaction.atomic():
        waiting = DocumentVersion.objects.filter(pk=version_id).exclude(stage__in=ENDED)
        waiting.update(
            error_code=why.code, error_class=why.error_class,
            error_message=f"{why.message} Trying again.",
        )  # fmt: skip
        _end(version_id, Outcome.RETRIED, why)


def _end(version_id: uuid.UUID, outcome: Outcome, why: Reason) -> None:
    IngestStage.objects.filter(version=version_id, ended_at=None).update(
        ended_at=timezone.now(), outcome=outcome, error_code=why.code,
        error_class=why.error_class, message=why.message,
    )  # fmt: skip
