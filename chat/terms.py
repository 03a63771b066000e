"""What a program can say of a question that a page cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from django.conf import settings

from retrieval.backends.base import ChatMessage

OnLeave = Literal["grace", "stop", "finish"]
Multitask = Literal["reject", "enqueue", "interrupt"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """On what terms a question is asked."""

    history: Sequence[ChatMessage] = ()
    """Earlier turns, of a client that keeps them itself; they are not stored."""
    listed: bool = True
    """Whether a new conversation is among those its person sees listed."""
    on_leave: OnLeave = "grace"
    """What becomes of the answer when its last reader leaves.

    It is stopped after RUN_GRACE_SECONDS, or at once, or finished with nobody there.
    """
    multitask: Multitask | None = None
    """What becomes of a question while another is answered; None is MULTITASK_STRATEGY."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The client's own, kept with the run."""

    @property
    def strategy(self) -> Multitask:
        """What becomes of a question while another is answered."""
        return self.multitask or settings.MULTITASK_STRATEGY

    @property
    def leaves_seconds(self) -> float | None:
        """How long an answer goes on without a reader; None is to its end."""
        match self.on_leave:
            case "grace":
                return float(settings.RUN_GRACE_SECONDS)
            case "stop":
                return 0.0
            case "finish":
                return None


PAGE = Terms()
"""How a page asks."""
