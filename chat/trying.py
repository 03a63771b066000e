"""A question that is answered without a conversation: nothing of it is stored but what it cost."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from uuid_utils.compat import uuid7

from chat import allowance, spending
from chat.answering import pipeline
from chat.failures import failure
from chat.frames import BaseFrame, Done, Error
from chat.runlog import RunLog
from chat.runstate import RunRefused
from retrieval.database import Statement, execute

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User

    from chat.answering.question import Question

CHARGE = """
INSERT INTO limits_charge (user_id, run, asked_at) VALUES (%s, %s, statement_timestamp())
"""
TOKENS = "UPDATE limits_charge SET tokens = %s WHERE run = %s"


async def lines(question: Question, user: User) -> AsyncGenerator[str]:
    """Yield an answer's frames as lines of JSON; a fault, or a refusal, is the last of them.

    It counts against the limits of `user` as any question does.
    """
    try:
        await allowance.check(user)
        async with aclosing(charged(question, user)) as frames:
            async for frame in frames:
                yield line(frame)
    except RunRefused as refused:
        yield line(refused.frame())
    except Exception as error:  # noqa: BLE001 - the outermost edge: the response has begun
        yield line(failure(error, "Trying an assistant"))


async def charged(question: Question, user: User) -> AsyncGenerator[BaseFrame]:
    """Yield an answer's frames, and charge its tokens however it ends. Raises DatabaseError."""
    run: UUID = uuid7()
    await execute(Statement(CHARGE, [user.pk, run]))
    log = RunLog(run, uuid7())
    ending: Done | Error = Error(code="interrupted", message="", recoverable=True)
    try:
        async with aclosing(pipeline.answer(question)) as frames:
            async for frame in frames:
                yield frame
                if isinstance(frame, Done):
                    ending = frame
                else:
                    log.add(frame)
    finally:
        log.flush()
        await execute(Statement(TOKENS, [await spending.spent(question, log, ending), run]))


def line(frame: BaseFrame) -> str:
    """Return a frame as a line."""
    return frame.to_json() + "\n"
