"""How much a person may use: their own limit, the most generous of their groups', or everyone's.

Each quantity for itself, as SQL: it is a part of the statements that count.
"""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.limits.models import Scope
from retrieval.limits.quantities import QUANTITIES, Quantity, default

# From the narrowest to the widest; what none of these says is as in the settings.
OF_PEOPLE = (Scope.PERSON, Scope.GROUP, Scope.EVERYONE)
OF_GUESTS = (Scope.GUEST,)
OF_ADDRESSES = (Scope.ADDRESS,)
SETTINGS = {OF_PEOPLE: "LIMIT", OF_GUESTS: "GUEST", OF_ADDRESSES: "GUEST_ADDRESS"}


def allowed(
    scopes: tuple[Scope, ...], quantities: Sequence[Quantity] = QUANTITIES, user: str = "%(user)s"
) -> str:
    """Return a query of one row: how much may be used of each quantity, UNLIMITED included.

    `user` is SQL for the id of the person. It takes the parameters of `defaults`.
    """
    columns = (
        f"coalesce({_narrowest_first(scopes, each)}, {_default(scopes, each)}) AS {each.name}"
        for each in quantities
    )
    return (
        f"SELECT {', '.join(columns)} FROM limits_limit WHERE scope IN ({_listed(scopes)})"
        f" AND (user_id IS NULL OR user_id = {user}) AND (group_id IS NULL OR group_id IN"
        f" (SELECT group_id FROM auth_user_groups WHERE user_id = {user}))"
    )


def _narrowest_first(scopes: Sequence[Scope], quantity: Quantity) -> str:
    return ", ".join(f"max({quantity.name}) FILTER (WHERE scope = '{scope}')" for scope in scopes)


def _listed(scopes: Sequence[Scope]) -> str:
    return ", ".join(f"'{scope}'" for scope in scopes)


def _default(scopes: tuple[Scope, ...], quantity: Quantity) -> str:
    return f"%({SETTINGS[scopes]}_{quantity.name})s::bigint"


def defaults() -> dict[str, object]:
    """Return the parameters of `allowed`: what the settings say."""
    return {
        f"{prefix}_{quantity.name}": default(prefix, quantity)
        for prefix in SETTINGS.values()
        for quantity in QUANTITIES
    }
