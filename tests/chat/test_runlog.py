"""Numbering and coalescing of a run's frames."""

import asyncio
import threading
from typing import Any
from uuid import UUID, uuid4

from pytest import MonkeyPatch
from pytest_django.fixtures import Settings

from chat import runlog
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


async def test_a_reader_ends_with_the_terminal_frame() -> None:
    log = RunLog(uuid4(), uuid4())
    log._append(Done(finish_reason="stop", answer="", citations=[]))
    assert [frame.type async for frame in log.follow(0)] == ["done"]


async def test_what_is_saved_with_the_end_is_not_saved_again(monkeypatch: MonkeyPatch) -> None:
    saved: list[int] = []

    def store(
        run: UUID, answer: UUID, text: str, citations: int, batch: list[Frame], *_: Any
    ) -> None:
        saved.extend(frame.seq for frame in batch)

    monkeypatch.setattr(runlog, "store", store)
    log = RunLog(uuid4(), uuid4())
    log.add(Token(text="a"))
    ending = asyncio.create_task(
        log.end(Done(finish_reason="stop", answer="a", citations=[]), lambda: None)
    )
    await asyncio.gather(ending, log.save())
    await log.save()
    assert saved == [1, 2]


async def test_what_comes_while_a_batch_is_saved_is_saved_without_waiting_for_more(
    monkeypatch: MonkeyPatch, settings: Settings
) -> None:
    settings.RUN_SAVE_SECONDS = 0.001
    begun, go_on, rest = asyncio.Event(), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def store(*saved: Any) -> None:
        last: Frame = saved[4][-1]
        loop.call_soon_threadsafe((begun if last.seq == 1 else rest).set)
        assert go_on.wait(10)

    monkeypatch.setattr(runlog, "store", store)
    log = RunLog(uuid4(), uuid4())
    saving = asyncio.create_task(log.save_as_it_grows())
    await asyncio.sleep(0)
    log.add(Status(stage="searching", message=""))
    await asyncio.wait_for(begun.wait(), 10)
    log.add(Status(stage="generating", message=""))
    go_on.set()
    await asyncio.wait_for(rest.wait(), 10)
    saving.cancel()
    await asyncio.gather(saving, return_exceptions=True)
