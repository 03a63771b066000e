"""Whether a question may be asked: counted and decided in PostgreSQL, for all processes at once.

What is counted are charges, one a question, which outlive the conversation; how many answers are
being written is known from their runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext, ngettext

from chat import pace
from chat.accounts.models import Guest
from chat.runstate import RunRefused
from retrieval.database import Statement, fetch
from retrieval.limits.allowed import OF_ADDRESSES, OF_GUESTS, OF_PEOPLE, allowed
from retrieval.limits.meters import (
    Counting,
    Meter,
    metered,
    meters,
    parameters,
    questions,
    seconds_until,
    tokens,
    when,
)
from retrieval.limits.quantities import QUESTIONS, RUNS, TOKENS, UNLIMITED, Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.contrib.auth.models import User

    from chat.terms import Multitask
    from retrieval.limits.models import Scope

ASKING = (QUESTIONS, TOKENS, RUNS)
OWN = "user_id = %(user)s"
OF_ADDRESS = "address = %(address)s"
# How long to wait before asking again while as many answers as may be are being written.
RUNNING_RETRY_SECONDS = 5


def running(quantity: Quantity, whose: str, but: str = "") -> Counting:
    """Count the answers that are being written; `but` is a condition on their runs."""
    return Counting(
        quantity,
        used="SELECT count(*) FROM limits_charge AS charge JOIN chat_run AS run"
        f" ON run.id = charge.run WHERE charge.{whose} AND charge.tokens IS NULL"
        " AND charge.asked_at > now() - interval '1 day'"
        f" AND run.state IN ('queued', 'running') AND run.lease_expires_at > now() {but}",
    )


def asking(scopes: tuple[Scope, ...], whose: str, *, shared: bool = False) -> str:
    """Return the query of what a question is measured by.

    The answer in its own conversation, `conversation`, does not count: it is waited for or
    replaced. A question without one has NULL.
    """
    other = "AND run.conversation_id IS DISTINCT FROM %(but)s::uuid"
    counted = (
        questions(QUESTIONS, whose),
        tokens(TOKENS, whose),
        running(RUNS, whose, other),
    )
    return metered(allowed(scopes, ASKING), counted, shared=shared)


def is_limited() -> str:
    """Return the condition that a row of `allowed` limits something."""
    return f"least({', '.join(quantity.name for quantity in ASKING)}) < {UNLIMITED}"


def locking(scopes: tuple[Scope, ...], family: int, key: str) -> str:
    """Return what makes questions of one person, or one address, wait for each other.

    Only where something is limited. It takes a transaction, and comes before the one that counts.
    """
    return (
        f"SELECT pg_advisory_xact_lock({family}, hashint8(%({key})s::bigint))"
        f" FROM ({allowed(scopes, ASKING)}) AS allowed WHERE {is_limited()}"
    )


PEOPLE_LOCK, ADDRESS_LOCK = 0x6C696D31, 0x6C696D32
# A row for who is limited at all, as if that were used up.
LIMITED = (
    "SELECT NULL AS quantity, 0 AS used, 0 AS allowed"
    f" FROM ({allowed(OF_PEOPLE, ASKING)}) AS allowed WHERE {is_limited()}"
)
PERSON = asking(OF_PEOPLE, OWN)
# Of a guest both count, and what is left of the one is no help where the other is used up.
GUEST = f"{asking(OF_GUESTS, OWN)} UNION ALL {asking(OF_ADDRESSES, OF_ADDRESS, shared=True)}"
LOCK_PERSON = locking(OF_PEOPLE, PEOPLE_LOCK, "user")
LOCK_GUEST = locking(OF_GUESTS, PEOPLE_LOCK, "user")
LOCK_ADDRESS = locking(OF_ADDRESSES, ADDRESS_LOCK, "address")


# Those of whom a limit is known, who may have lost it since; of so many at most.
_limited: set[int] = set()
MOST_LIMITED = 10_000


def may_be_unlimited(user: User) -> bool:
    """Whether it is worth a try to ask LIMITED instead of `measures`, without `locks`."""
    return not isinstance(user, Guest) and user.pk not in _limited


def remember_limited(user: User) -> None:
    """Note that somebody has a limit."""
    if len(_limited) >= MOST_LIMITED:
        _limited.clear()
    _limited.add(user.pk)


def measures(user: User) -> str:
    """Return the query of what a question of this user is measured by, a row each."""
    return GUEST if isinstance(user, Guest) else PERSON


def values(
    user: User, conversation: UUID | None, strategy: Multitask | None = None
) -> dict[str, object]:
    """Return the parameters of `measures` and `locks`.

    With the strategy `enqueue`, a question comes after the answer in its conversation.
    """
    queues = (strategy or settings.MULTITASK_STRATEGY) == "enqueue"
    return {
        **parameters(),
        "user": user.pk,
        "address": user.address if isinstance(user, Guest) else None,
        "but": None if queues else conversation,
    }


def locks(user: User, known: dict[str, object]) -> list[Statement]:
    """Return the statements that come first in the transaction which measures and charges."""
    sql = (LOCK_GUEST, LOCK_ADDRESS) if isinstance(user, Guest) else (LOCK_PERSON,)
    return [Statement(each, known) for each in sql]


async def check(user: User, conversation: UUID | None = None) -> list[Meter]:
    """Return what a question is measured by, charging nothing. Raises RunRefused, DatabaseError."""
    found = meters(await fetch(measures(user), values(user, conversation)))
    refuse_if_full(found)
    return found


def refuse_if_full(found: Sequence[Meter]) -> None:
    """Raise RunRefused for what is used up; of several, for what is free again last."""
    full = [meter for meter in found if meter.is_full]
    if full:
        raise refusal(max(full, key=_wait))


def refusal(meter: Meter) -> RunRefused:
    """Return what somebody is told who has used up what they may, and when to ask again."""
    if not meter.allowed:
        return RunRefused("quota_exceeded", gettext("You may not ask questions here."))
    code, limit = _limit(meter)
    again = (
        gettext("You can ask again {when}.").format(when=when(meter.resets_at))
        if meter.resets_at
        else gettext("Ask again when an answer has ended.")
    )
    wait = _wait(meter) * 1000
    return RunRefused(code, f"{limit} {again}", recoverable=True, retry_in_ms=wait)


def _limit(meter: Meter) -> tuple[str, str]:
    """Return the code of a refusal, and what may be used, in words."""
    most = meter.allowed
    match meter.quantity.name, meter.shared:
        case QUESTIONS.name, False:
            code = "rate_limited"
            text = ngettext(
                "You may ask {n} question a minute.", "You may ask {n} questions a minute.", most
            )
        case QUESTIONS.name, True:
            code = "rate_limited"
            text = ngettext(
                "From your network {n} question a minute may be asked.",
                "From your network {n} questions a minute may be asked.",
                most,
            )
        case RUNS.name, False:
            code = "too_many_runs"
            text = ngettext(
                "{n} of your questions is answered at a time.",
                "At most {n} of your questions are answered at a time.",
                most,
            )
        case RUNS.name, True:
            code = "too_many_runs"
            text = ngettext(
                "{n} question from your network is answered at a time.",
                "At most {n} questions from your network are answered at a time.",
                most,
            )
        case _, True:
            code = "quota_exceeded"
            text = gettext("Today’s {n} tokens for your network are used up.")
        case _:
            code = "quota_exceeded"
            text = gettext("You have used up today’s {n} tokens.")
    return code, text.format(n=meter.quantity.words(most))


def _wait(meter: Meter) -> int:
    return seconds_until(meter.resets_at) if meter.resets_at else RUNNING_RETRY_SECONDS


async def check_looking(user: User, conversation: UUID | None = None) -> None:
    """Raise RunRefused unless what `user` types may be searched for: they may ask, and not often.

    Raises DatabaseError.
    """
    for meter in await check(user, conversation):
        if meter.quantity == QUESTIONS:
            who = user.address if meter.shared and isinstance(user, Guest) else user.username
            if not pace.may_look(who, meter.allowed):
                raise RunRefused("rate_limited", gettext("Please type a little more slowly."))
