"""How an answer ends: with all of it, or with the word that the documents hold none."""

from __future__ import annotations

from django.utils.translation import gettext

from chat.answering.citations import CitedAnswer
from chat.answering.question import Clock
from chat.frames import Done, FinishReason, Frame, Usage
from retrieval.backends.base import Delta


def done(cited: CitedAnswer, reason: FinishReason, clock: Clock, last: Delta, found: Usage) -> Done:
    """Return the terminal frame of an answer that came to its end; finding it took tokens, too."""
    clock.mark("total_ms")
    return Done(
        finish_reason=reason,
        answer=cited.text,
        citations=cited.citations,
        usage=spent(found, last),
        timings=clock.marks,
    )


def refuse(clock: Clock, found: Usage) -> list[Frame]:
    """Return the frames that say that the documents hold no answer."""
    cited = CitedAnswer((), ())
    frames: list[Frame] = list(cited.feed(gettext("The documents do not answer this.")))
    return [*frames, *cited.finish(), done(cited, "no_answer", clock, Delta(), found)]


def spent(usage: Usage, last: Delta) -> Usage:
    """Return the tokens of both."""
    return Usage(
        prompt_tokens=usage.prompt_tokens + last.prompt_tokens,
        completion_tokens=usage.completion_tokens + last.completion_tokens,
    )
