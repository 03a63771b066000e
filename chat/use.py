"""What people use of what they may: for themselves, and for staff."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Count, Q, Sum

from chat.allowance import running
from retrieval.limits.allowed import OF_PEOPLE, allowed
from retrieval.limits.meters import (
    Meter,
    metered,
    meters,
    parameters,
    questions,
    storage,
    today,
    tokens,
    uploads,
)
from retrieval.limits.models import Charge
from retrieval.limits.quantities import QUANTITIES, QUESTIONS, RUNS, STORAGE, TOKENS, UPLOADS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

OF_PERSON = "user_id = person.id"
COUNTINGS = (
    questions(QUESTIONS, OF_PERSON),
    tokens(TOKENS, OF_PERSON),
    running(RUNS, OF_PERSON),
    uploads(UPLOADS, "person.id"),
    storage(STORAGE, "person.id"),
)
USE = (
    "SELECT person.id, meter.* FROM auth_user AS person CROSS JOIN LATERAL"
    f" ({metered(allowed(OF_PEOPLE, QUANTITIES, 'person.id'), COUNTINGS, unlimited=True)}) AS meter"
    " WHERE person.id = ANY(%(people)s)"
)


@dataclass(frozen=True)
class Today:
    """What was asked today, in all."""

    questions: int
    tokens: int


def of_people(people: Sequence[User]) -> dict[int, list[Meter]]:
    """Return the meters of each person by their key, in the order of QUANTITIES."""
    found: dict[int, list[Meter]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(USE, {**parameters(), "people": [person.pk for person in people]})
        for person, *row in cursor.fetchall():
            found[person] += meters([tuple(row)])
    return found


def of(user: User) -> list[Meter]:
    """Return the meters of one person."""
    return of_people([user])[user.pk]


def total(*, guests: bool) -> Today:
    """Return what people asked today, or guests: also those who have signed in since."""
    whose = Q(address__isnull=not guests)
    sums = Charge.objects.filter(whose, asked_at__gte=today()).aggregate(
        questions=Count("pk"), tokens=Sum("tokens")
    )
    return Today(sums["questions"], sums["tokens"] or 0)
