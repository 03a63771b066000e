"""Checking an answer beside its being streamed: in time for its end, or later."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from pytest_django import Settings

from chat.answering import checking
from chat.answering.checking import Asked, Checking
from chat.answering.citations import CitedAnswer
from chat.answering.judging import Judged
from chat.frames import Grounding, Source
from retrieval.backends.base import BackendError, Passage
from retrieval.text import sentences

TOWER = "The tower of Lund is 96 metres high."


class Grounder:
    """Finishes when it is let, with what it is told."""

    def __init__(self, cited: CitedAnswer) -> None:
        self.go_on = asyncio.Event()
        self.closed = False
        self.error: Exception | None = None

    async def finish(self) -> Grounding:
        await self.go_on.wait()
        if self.error:
            raise self.error
        return Grounding(verdict="grounded")

    def look(self) -> None:
        """Nothing needs to be begun."""

    def close(self) -> None:
        self.closed = True


class Kept:
    """Takes what is left for later."""

    def __init__(self) -> None:
        self.rest: list[Coroutine[Any, Any, Judged | None]] = []

    def __call__(self, rest: Coroutine[Any, Any, Judged | None]) -> None:
        self.rest.append(rest)


@pytest.fixture
def cited() -> CitedAnswer:
    source = Source(index=1, source_id="", document_id="", title="", snippet="")
    answer = CitedAnswer([Passage(1, TOWER, title="", analyse=sentences.split)], [source])
    list(answer.feed("It is 96 metres high [1]."))
    return answer


@pytest.fixture
def grounder(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Grounder:
    settings.GROUNDING_WAIT_SECONDS = 0.01
    only = Grounder(CitedAnswer((), ()))
    monkeypatch.setattr(checking, "Grounder", lambda cited, language: only)
    return only


async def test_what_is_found_in_time_is_a_frame(cited: CitedAnswer, grounder: Grounder) -> None:
    grounder.go_on.set()
    later = Kept()
    async with Checking(cited, Asked(), later) as check:
        assert await check.frame() == Grounding(verdict="grounded")
    assert later.rest == []
    assert grounder.closed


async def test_what_is_not_found_in_time_is_left_for_later(
    cited: CitedAnswer, grounder: Grounder
) -> None:
    later = Kept()
    async with Checking(cited, Asked(), later) as check:
        assert await check.frame() is None
    grounder.go_on.set()
    assert await later.rest[0] == Judged(Grounding(verdict="grounded"))


async def test_an_answer_that_is_broken_off_is_checked_later(
    cited: CitedAnswer, grounder: Grounder
) -> None:
    later = Kept()
    with pytest.raises(asyncio.CancelledError):
        async with Checking(cited, Asked(), later):
            raise asyncio.CancelledError
    grounder.go_on.set()
    assert await later.rest[0] == Judged(Grounding(verdict="grounded"))


async def test_with_nobody_to_store_it_what_is_late_is_dropped(
    cited: CitedAnswer, grounder: Grounder
) -> None:
    async with Checking(cited, Asked(), None) as check:
        assert await check.frame() is None
    assert grounder.closed


@pytest.mark.parametrize("error", [BackendError("made up", True), RuntimeError("made up")])
async def test_an_answer_ends_even_if_checking_it_fails(
    cited: CitedAnswer, grounder: Grounder, error: Exception
) -> None:
    grounder.error = error
    grounder.go_on.set()
    later = Kept()
    async with Checking(cited, Asked(), later) as check:
        assert await check.frame() is None
    assert later.rest == []


async def test_it_can_be_turned_off(cited: CitedAnswer, settings: Settings) -> None:
    settings.GROUNDING = False
    later = Kept()
    async with Checking(cited, Asked(), later) as check:
        assert await check.frame() is None
    assert later.rest == []
