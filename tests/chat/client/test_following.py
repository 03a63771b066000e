"""Connections that break, scripted frame by frame."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from uuid import UUID

import pytest
import tenacity

from chat.client import following
from chat.client.errors import NotFoundError, RagError, UnavailableError
from chat.client.following import follow
from chat.frames import Done, Error, Frame, Snapshot, Token

RUN = UUID(int=1)
LOST = UnavailableError("lost", code="connection_lost")
Step = Frame | RagError


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "BACKOFF", tenacity.wait_none())
    monkeypatch.setattr(tenacity, "stop_after_delay", lambda _: tenacity.stop_after_attempt(3))


def token(seq: int) -> Token:
    return Token(run=RUN, seq=seq, text=f"{seq} ")


def done(seq: int) -> Done:
    return Done(run=RUN, seq=seq, finish_reason="stop", answer="", citations=[])


class Site:
    """Plays one script a connection, and notes what was asked for."""

    def __init__(self, *connections: list[Step]) -> None:
        self.connections = list(connections)
        self.asked: list[tuple[UUID | None, int]] = []
        self.open = 0

    async def connect(self, run: UUID | None, after: int) -> AsyncGenerator[Frame]:
        self.asked.append((run, after))
        self.open += 1
        try:
            for step in self.connections.pop(0):
                if isinstance(step, RagError):
                    raise step
                yield step
        finally:
            self.open -= 1


async def numbers(site: Site) -> list[int]:
    return [frame.seq async for frame in follow(site.connect)]


async def test_a_cut_is_gone_on_from_where_it_was() -> None:
    site = Site([token(1), token(2), LOST], [token(3), done(4)])
    assert await numbers(site) == [1, 2, 3, 4]
    assert site.asked == [(None, 0), (RUN, 2)]
    assert not site.open


async def test_another_try_is_not_told_in_the_programs_log(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    assert await numbers(Site([LOST], [token(1), done(2)])) == [1, 2]
    assert (caplog.messages, *capfd.readouterr()) == ([], "", "")


async def test_a_stream_that_ends_too_early_is_a_cut() -> None:
    assert await numbers(Site([token(1)], [], [token(2), done(3)])) == [1, 2, 3]


async def test_what_comes_again_is_passed_over() -> None:
    assert await numbers(Site([token(1), token(2), LOST], [token(2), done(3)])) == [1, 2, 3]


async def test_a_question_that_nobody_heard_is_asked_again() -> None:
    site = Site([LOST], [token(1), done(2)])
    assert await numbers(site) == [1, 2]
    assert site.asked == [(None, 0), (None, 0)]


async def test_attempts_begin_anew_with_each_frame() -> None:
    cuts: list[list[Step]] = [[token(number), LOST] for number in range(1, 9)]
    assert await numbers(Site(*cuts, [done(9)])) == list(range(1, 10))


async def test_it_gives_up_in_the_end() -> None:
    site = Site([token(1), LOST], [LOST], [LOST], [LOST])
    with pytest.raises(UnavailableError):
        await numbers(site)
    assert not site.open


async def test_a_refusal_is_final() -> None:
    site = Site([NotFoundError("gone", status=404)])
    with pytest.raises(NotFoundError):
        await numbers(site)
    assert len(site.asked) == 1


async def test_an_error_of_the_connection_is_none_of_the_answer() -> None:
    apart = Error(code="internal", message="Lost.", recoverable=True)
    assert await numbers(Site([token(1), apart], [done(2)])) == [1, 2]


async def test_an_error_of_the_answer_ends_it() -> None:
    failed = Error(run=RUN, seq=2, code="timeout", message="Late.", recoverable=True)
    assert await numbers(Site([token(1), failed])) == [1, 2]


async def test_a_snapshot_is_passed_on_though_its_number_is_known() -> None:
    whole = Snapshot(run=RUN, seq=1, text="1 ", citations=[])
    assert await numbers(Site([token(1), token(2), LOST], [whole, done(3)])) == [1, 2, 1, 3]


async def test_closing_closes_the_connection() -> None:
    site = Site([token(1), done(2)])
    frames = follow(site.connect)
    await anext(frames)
    await frames.aclose()
    assert not site.open
