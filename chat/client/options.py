"""What can be said of a question beside its words."""

from __future__ import annotations

from chat.client.errors import BadRequestError, NotAvailableError

MOST_STEPS = 10_000
NEED_AGENT = ("plan_mode", "subagent_enabled")


def check_agent_options(recursion_limit: int, **asked: bool) -> None:
    """Refuse what only an agent could do, before anything is asked.

    An answer is written in one go, well within any limit of steps. Raises NotAvailableError,
    BadRequestError.
    """
    for name in NEED_AGENT:
        if asked.get(name):
            message = f"{name} is not available: there is no agent on this site yet."
            raise NotAvailableError(message, code="not_available")
    if not 1 <= recursion_limit <= MOST_STEPS:
        raise BadRequestError(
            f"recursion_limit has to be 1 to {MOST_STEPS}.", code="bad_recursion_limit"
        )
