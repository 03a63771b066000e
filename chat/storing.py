"""Storing a question and its run, before anything else happens, and one at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from django.db import IntegrityError
from django.utils.translation import gettext
from psycopg import errors
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from chat import allowance, asking, runstate
from chat.accounts import guests
from chat.accounts.models import Guest
from chat.answering import titles
from chat.answering.question import Question
from chat.asking import Asked
from chat.client_messages import Ask
from chat.frames import Status
from chat.models import ACTIVE, Run, RunState
from chat.runstate import RunRefused
from chat.terms import PAGE, Terms
from retrieval.database import Statement, execute, in_thread
from retrieval.limits.meters import meters

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# The conversation, the question, the place for its answer, the run, its first frame and what is
# charged for it, in one statement, unless something it is measured by is used up: then only that
# is returned. What foreign keys point to is looked for at its end.
INSERT = """
WITH meters AS MATERIALIZED ({measures}
), admitted AS MATERIALIZED (
  SELECT WHERE NOT EXISTS (SELECT FROM meters WHERE used >= allowed)
), conversation AS (
  INSERT INTO chat_conversation AS stored
    (id, user_id, assistant_id, title, listed, created_at, updated_at)
  SELECT %(conversation)s::uuid, %(user)s::bigint, %(assistant)s::uuid, %(title)s::text,
    %(listed)s::boolean, now(), now() FROM admitted
  ON CONFLICT (id) DO UPDATE SET updated_at = now(),
    title = COALESCE(NULLIF(stored.title, ''), EXCLUDED.title),
    assistant_id = CASE stored.title
      WHEN '' THEN EXCLUDED.assistant_id ELSE stored.assistant_id END
), messages AS (
  INSERT INTO chat_message (id, conversation_id, role, text, created_at)
  SELECT new.id, %(conversation)s::uuid, new.role, new.text, now() FROM admitted, (VALUES
    (%(question)s::uuid, 'user', %(text)s::text), (%(answer)s::uuid, 'assistant', '')
  ) AS new (id, role, text)
), frame AS (
  INSERT INTO chat_runframe (run_id, seq, payload)
  SELECT %(run)s::uuid, 1, %(frame)s::jsonb FROM admitted
), charge AS (
  INSERT INTO limits_charge (user_id, address, run, asked_at)
  SELECT %(user)s::bigint, %(address)s::bigint, %(run)s::uuid, statement_timestamp() FROM admitted
), run AS (
  INSERT INTO chat_run (id, conversation_id, user_id, question_id, answer_id, ask_id, state, owner,
    lease_expires_at, assistant_version_id, model, settings, generation, metadata, created_at,
    finish_reason, error_code, error_message, usage, timings, written)
  SELECT %(run)s::uuid, %(conversation)s::uuid, %(user)s::bigint, %(question)s::uuid,
    %(answer)s::uuid, %(ask)s::text, %(state)s::text, %(owner)s::text, %(lease)s::timestamptz,
    %(version)s::uuid, %(model)s::text, %(settings)s::jsonb, %(generation)s::jsonb,
    %(metadata)s::jsonb, now(), '', '', '', '{{}}', '{{}}', '[]'
  FROM admitted
)
SELECT * FROM meters WHERE used >= allowed
"""


@dataclass(frozen=True)
class NewRun:
    """A run as it was stored, with its first frame, and what its answer may draw on.

    `question` is None for a repeat.
    """

    run: Run
    first: Status
    question: Question | None


async def create(user: User, ask: Ask, owner: str, terms: Terms = PAGE) -> NewRun:
    """Save the question and its run.

    The same ask id sent twice gives the run of the first. Raises RunRefused, DatabaseError.
    """
    asked = await asking.find(user, ask, terms.history)
    if isinstance(user, Guest) and user.pk == guests.NOT_STORED:
        # Nothing is stored of a guest who may not ask.
        await allowance.check(user, asked.conversation)
        user = await guests.keep(user)
    queues = terms.strategy == "enqueue" and asked.conversation
    run = Run(
        conversation_id=asked.conversation or uuid7(),
        user=user,
        question_id=uuid7(),
        answer_id=uuid7(),
        ask_id=ask.id,
        state=RunState.QUEUED if queues else RunState.RUNNING,
        owner=owner,
        lease_expires_at=runstate.lease(),
        assistant_version_id=asked.version,
        model=asked.question.model or "",
        settings=asked.question.settings.model_dump(mode="json", exclude_defaults=True),
        generation=asked.question.generation.given() if ask.generation else {},
        metadata=dict(terms.metadata),
    )
    first = first_frame(run)
    for last_try in (False, True):
        try:
            await insert(run, asked, first, terms)
        except (RunRefused, IntegrityError) as error:
            # A repeat is no second question, and is not measured.
            if ask.id and (earlier := await in_thread(find_run, user, ask.id)):
                earlier.is_repeat = True
                return NewRun(earlier, first_frame(earlier), None)
            if isinstance(error, RunRefused):
                raise
            if isinstance(error.__cause__, errors.ForeignKeyViolation):
                refusal = RunRefused("not_found", gettext("There is no such conversation."))
                raise refusal from error
            # Somebody's process may have ended without a word.
            if last_try or not await in_thread(runstate.interrupt_expired, run.conversation_id):
                raise busy() from error
        else:
            break
    return NewRun(run, first, asked.question)


def first_frame(run: Run) -> Status:
    """Return the frame that says where a question went."""
    return Status(
        run=run.id,
        seq=1,
        stage="queued",
        message=gettext("Question received"),
        ask=run.ask_id,
        conversation=run.conversation_id,
        question=run.question_id,
        answer=run.answer_id,
    )


async def insert(run: Run, asked: Asked, first: Status, terms: Terms) -> None:
    """Write a new run with its messages, and its conversation if that is new, too.

    Raises RunRefused where its user has used up what they may, DatabaseError.
    """
    text = asked.question.text
    values = {
        **allowance.values(run.user, asked.conversation, terms.strategy),
        "conversation": run.conversation_id,
        "assistant": asked.assistant,
        "title": titles.from_question(text),
        "listed": terms.listed,
        "question": run.question_id,
        "answer": run.answer_id,
        "text": text,
        "run": run.id,
        "ask": run.ask_id,
        "state": str(run.state),
        "owner": run.owner,
        "lease": run.lease_expires_at,
        "version": run.assistant_version_id,
        "model": run.model,
        "settings": Jsonb(run.settings),
        "generation": Jsonb(run.generation),
        "metadata": Jsonb(run.metadata),
        "frame": first.to_json(),
    }
    if allowance.may_be_unlimited(run.user):
        # One statement instead of a transaction: most people have no limit.
        if not await execute(Statement(_insertion(allowance.LIMITED), values)):
            return
        allowance.remember_limited(run.user)
    insertion = Statement(_insertion(allowance.measures(run.user)), values)
    full = await execute(*allowance.locks(run.user, values), insertion)
    allowance.refuse_if_full(meters(full))


@cache
def _insertion(measures: str) -> str:
    return INSERT.format(measures=measures)


def find_run(user: User, ask: str) -> Run | None:
    """Return the run of a question that was asked before."""
    return Run.objects.filter(user=user, ask_id=ask).first()


def busy() -> RunRefused:
    """Return why a second question is refused."""
    message = gettext("This conversation is still answering. Wait for the answer, or stop it.")
    return RunRefused("busy", message, recoverable=True)


async def take_turn(run: Run, question: Question) -> Question | None:
    """Let a queued run be the one that is answered; None while an earlier one still is.

    Returns the question with what was said in the meantime. Raises DatabaseError.
    """
    if not await in_thread(_is_turn, run):
        return None
    run.state = RunState.RUNNING
    history = await asking.read_history(run.conversation_id, before=run.question_id)
    return replace(question, history=history)


def _is_turn(run: Run) -> bool:
    runstate.interrupt_expired(conversation=run.conversation_id)
    active = Run.objects.filter(conversation=run.conversation_id, state__in=ACTIVE)
    if active.filter(id__lt=run.id).exists():
        return False
    try:
        active.filter(id=run.id).update(state=RunState.RUNNING)
    except IntegrityError:
        return False
    return True
