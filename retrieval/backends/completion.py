"""Short texts that the configured generator writes for the search: not shown as answers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from django.conf import settings

from retrieval import backends
from retrieval.backends.base import BackendError, ChatMessage, GenerationRequest, Query
from retrieval.backends.generation import GenerationSettings

# A model that reasons aloud does so before its text; what follows more than this is not wanted.
LONGEST_CHARS = 12_000
MOST_TOKENS = 2048

_thoughts = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_mark = re.compile(r"^(?:[-*•·–—]+|\(?\d{1,2}[.):、]|#+)\s+|^\d{1,2}[.)、]")
_quotes = "\"'“”„‚‘’«»「」『』`* "


@dataclass(frozen=True)
class Completion:
    """What a generator wrote, and the tokens it says that took."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def lines(self) -> list[str]:
        """The lines that say something, without numbers, bullets and quotation marks."""
        stripped = (_mark.sub("", line.strip()).strip(_quotes) for line in self.text.splitlines())
        return [line for line in stripped if any(character.isalnum() for character in line)]


def writes() -> bool:
    """Whether the configured generator can write; one that quotes cannot."""
    return not backends.generator().quotes_only


async def complete(
    question: str, messages: Sequence[ChatMessage], model: str | None = None
) -> Completion:
    """Return what the generator writes within REWRITE_TIMEOUT seconds, its reasoning left out.

    The model is REWRITE_MODEL, or else `model`, or else the generator's own. The provider's stream
    is closed however this ends. Raises BackendError.
    """
    request = GenerationRequest(
        messages=messages,
        question=Query(question, ()),
        passages=(),
        model=settings.REWRITE_MODEL or model,
        settings=GenerationSettings(max_tokens=MOST_TOKENS),
    )
    text = ""
    prompt_tokens = completion_tokens = 0
    try:
        async with asyncio.timeout(settings.REWRITE_TIMEOUT):
            async with aclosing(backends.generator().stream(request)) as deltas:
                async for delta in deltas:
                    text += delta.text
                    prompt_tokens += delta.prompt_tokens
                    completion_tokens += delta.completion_tokens
                    if len(text) > LONGEST_CHARS:
                        raise BackendError("It wrote too much.", False, code="malformed")
    except TimeoutError as error:
        raise BackendError("It took too long to write.", True, code="timeout") from error
    text = _thoughts.sub("", text).strip()
    return Completion(text, prompt_tokens, completion_tokens)
