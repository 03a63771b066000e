"""The tokens that an answer took, as its provider says or, where it says nothing, as estimated."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from django.conf import settings

from chat.answering.prompts import HISTORY_MESSAGES
from chat.frames import Done, Error, SearchResults, Status, Thinking
from retrieval import backends
from retrieval.backends import tokens

if TYPE_CHECKING:
    from chat.answering.question import Question
    from chat.runlog import RunLog

# Of a passage, about the longest that documents are cut into.
PASSAGE_TOKENS = 300


async def spent(question: Question, log: RunLog, ending: Done | Error) -> int:
    """Return the tokens of a run that has ended, prompts included.

    A generator that only quotes the documents takes none.
    """
    if isinstance(ending, Done):
        told = ending.usage.prompt_tokens + ending.usage.completion_tokens
        if told or ending.finish_reason == "no_answer":
            return told
    if backends.generator().quotes_only or not _was_prompted(log):
        return 0
    return await asyncio.to_thread(_estimated, question, log)


def _was_prompted(log: RunLog) -> bool:
    return any(isinstance(frame, Status) and frame.stage == "generating" for frame in log.frames)


def _estimated(question: Question, log: RunLog) -> int:
    """Return what the prompt and the answer so far have of tokens, rather too many than too few."""
    passages: set[int | None] = set()
    texts = [question.text, question.instructions, log.text]
    texts += [turn.content for turn in question.history[-HISTORY_MESSAGES:]]
    for frame in log.frames:
        if isinstance(frame, Thinking):
            texts.append(frame.text)
        elif isinstance(frame, SearchResults):
            passages |= {source.index for source in frame.results} - {None}
    in_context: int = min(settings.CONTEXT_TOKENS, len(passages) * PASSAGE_TOKENS)
    return in_context + sum(tokens.count(text) for text in texts if text)
