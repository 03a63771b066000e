"""What is limited: its name for people, the settings that say so for all, and how to write it."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.template.defaultfilters import filesizeformat

# Larger than anything that is counted, so that the most generous limit is simply the largest.
UNLIMITED = 2**63 - 1


@dataclass(frozen=True)
class Quantity:
    """Something that is counted and limited; `name` is the column of a limit."""

    name: str
    label: str
    is_size: bool = False

    def words(self, count: int) -> str:
        """Return a count of it for people."""
        if count >= UNLIMITED:
            return "unlimited"
        return filesizeformat(count).replace("\xa0", " ") if self.is_size else f"{count:,}"


QUESTIONS = Quantity("questions_a_minute", "Questions a minute")
TOKENS = Quantity("tokens_a_day", "Tokens a day")
RUNS = Quantity("concurrent_runs", "Answers at the same time")
UPLOADS = Quantity("uploads_a_day", "Uploads a day")
STORAGE = Quantity("storage_bytes", "Storage", is_size=True)

QUANTITIES = (QUESTIONS, TOKENS, RUNS, UPLOADS, STORAGE)
BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}


def default(prefix: str, quantity: Quantity) -> int:
    """Return what the settings say: by `LIMIT_…`, `GUEST_…` or `GUEST_ADDRESS_…`."""
    value: int | None = getattr(settings, f"{prefix}_{quantity.name.upper()}", None)
    return UNLIMITED if value is None else value
