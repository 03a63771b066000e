"""Numbering and coalescing of a run's frames."""

import asyncio
from uuid import uuid4

from pytest_django.fixtures import Settings

from chat.frames import Done, Frame, Status, Token
from chat.runlog import Coalescer, RunLog


async def test_the_first_token_goes_out_at_once() -> None:
    out: list[Frame] = []
    Coalescer(out.append).add(Token(text="Hi"))
    assert out == [Token(text="Hi")]


async def test_tokens_that_arrive_close_together_share_a_frame() -> None:
    out: list[Frame] = []
    coalescer = Coalescer(out.append)
    for text in ("a", "b", "c"):
        coalescer.add(Token(text=text))
    coalescer.flush()
    assert out == [Token(text="a"), Token(text="bc")]


async def test_the_end_of_a_sentence_is_not_kept_waiting() -> None:
    out: list[Frame] = []
    coalescer = Coalescer(out.append)
    for text in ("a", "b", "c."):
        coalescer.add(Token(text=text))
    assert out == [Token(text="a"), Token(text="bc.")]


async def test_held_tokens_go_out_when_their_time_is_over(settings: Settings) -> None:
    settings.TOKEN_FRAME_SECONDS = 0.001
    emitted: asyncio.Queue[Frame] = asyncio.Queue()
    coalescer = Coalescer(emitted.put_nowait)
    coalescer.add(Token(text="a"))
    coalescer.add(Token(text="b"))
    async with asyncio.timeout(5):
        assert [await emitted.get(), await emitted.get()] == [Token(text="a"), Token(text="b")]
    coalescer.flush()


async def test_other_frames_come_behind_the_tokens_before_them() -> None:
    out: list[Frame] = []
    coalescer = Coalescer(out.append)
    for frame in (Token(text="a"), Token(text="b"), Status(stage="x", message="")):
        coalescer.add(frame)
    assert [frame.type for frame in out] == ["token", "token", "status"]


async def test_frames_are_numbered_without_gaps() -> None:
    log = RunLog(uuid4(), uuid4())
    for text in ("a", "b.", "c"):
        log.add(Token(text=text))
    log.flush()
    assert [(frame.run, frame.seq) for frame in log.frames] == [
        (log.run, number) for number in range(1, len(log.frames) + 1)
    ]


async def test_a_reader_gets_what_it_missed_and_then_what_comes() -> None:
    log = RunLog(uuid4(), uuid4())
    log.add(Status(stage="queued", message=""))
    log.add(Status(stage="searching", message=""))
    reader = log.follow(1)
    missed = await anext(reader)
    waiting = asyncio.ensure_future(anext(reader))
    log.add(Token(text="live"))
    live = await waiting
    await reader.aclose()
    assert [(missed.seq, missed.type), (live.seq, live.type)] == [(2, "status"), (3, "token")]


async def test_the_end_is_seen_when_it_is_shown() -> None:
    """It is saved before readers see it."""
    log = RunLog(uuid4(), uuid4())
    log.add(Token(text="a"))
    log.end(Done(finish_reason="stop", answer="a", citations=[]), {})
    reader = log.follow(0)
    assert (await anext(reader)).type == "token"
    waiting = asyncio.ensure_future(anext(reader))
    await asyncio.sleep(0)
    assert not waiting.done()
    log.show_end()
    assert (await waiting).seq == 2
    assert [frame async for frame in reader] == []


async def test_a_reader_with_a_number_that_is_not_there_yet_gets_what_comes() -> None:
    log = RunLog(uuid4(), uuid4())
    log.add(Token(text="a"))
    reader = log.follow(10**12)
    waiting = asyncio.ensure_future(anext(reader))
    await asyncio.sleep(0)
    log.end(Done(finish_reason="stop", answer="a", citations=[]), {})
    log.show_end()
    assert (await waiting).seq == 2
    assert [frame async for frame in reader] == []


async def test_a_reader_that_has_the_end_gets_it_again() -> None:
    """A run whose end is not saved yet is still followed here."""
    log = RunLog(uuid4(), uuid4())
    log.end(Done(finish_reason="stop", answer="", citations=[]), {})
    log.show_end()
    assert [[frame.seq async for frame in log.follow(after)] for after in (0, 1, 2)] == [[1]] * 3


async def test_what_is_unsaved_is_what_came_since() -> None:
    log = RunLog(uuid4(), uuid4())
    log.add(Token(text="a"))
    first = log.unsaved()
    log.add(Status(stage="generating", message=""))
    assert first
    log.saved(first)
    rest = log.unsaved()
    assert rest
    assert [[frame.seq for frame in batch.frames] for batch in (first, rest)] == [[1], [2]]
    log.saved(rest)
    assert log.unsaved() is None


async def test_a_run_is_stored_when_its_end_is_saved() -> None:
    log = RunLog(uuid4(), uuid4())
    log.add(Token(text="a"))
    before = log.unsaved()
    log.end(Done(finish_reason="stop", answer="a", citations=[]), {"state": "completed"})
    assert before
    log.saved(before)
    assert not log.stored.is_set()
    end = log.unsaved()
    assert end
    log.saved(end)
    assert log.stored.is_set()
