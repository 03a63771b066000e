"""What people do in a soak: ask, read, reload, lose the network, stop, click twice, and leave."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.soak_journal import Answer, Asked, Journal
from benchmarks.soak_models import LONG, LONGEST, MODELS, numbered
from benchmarks.soak_site import GRACE_SECONDS, Web
from benchmarks.soak_tab import Tab

MOST_TURNS = 6


@dataclass(eq=False)
class Person:
    """Somebody with a browser, who does one thing after the other."""

    cookie: str
    webs: list[Web]
    journal: Journal
    rng: random.Random
    numbers: itertools.count[int]
    text: Callable[[int], str]

    def __post_init__(self) -> None:
        self.tab = self.new_tab()
        self.conversation: str | None = None
        self.turns = 0
        self.left: list[str] = []

    def new_tab(self) -> Tab:
        """Return a tab that is not connected yet."""
        return Tab(self.webs, self.cookie, self.journal, self.rng)

    async def live(self, until: float) -> None:
        """Do one thing after the other until a time comes."""
        actions = {
            self.reads: 6,
            self.loses_the_network: 5,
            self.reloads: 4,
            self.stops: 4,
            self.clicks_twice: 2,
            self.leaves: 2,
            self.asks_too_early: 2,
            self.has_two_tabs: 3,
        }
        await asyncio.sleep(self.rng.uniform(0, 3))
        await self.tab.open()
        while time.monotonic() < until:
            (action,) = self.rng.choices(list(actions), list(actions.values()))
            self.journal.did[action.__name__] += 1
            await action()
            self.turns += 1
            if self.turns > MOST_TURNS or self.rng.random() < 0.2:
                self.begins_anew()
            await asyncio.sleep(self.rng.expovariate(2))
        await self.tab.close()

    def begins_anew(self) -> None:
        """Turn to a new conversation."""
        self.conversation, self.turns = None, 0

    def question(self, *models: str) -> Asked:
        """Return a question that nobody has asked yet, answered as one of some models does."""
        number = next(self.numbers)
        if models:
            model = self.rng.choice(models)
        else:
            (model,) = self.rng.choices([each[0] for each in MODELS], [each[2] for each in MODELS])
        return Asked(
            id=f"ask-{number}",
            text=f"{self.text(number)} {number}",
            model=numbered(model, number),
            conversation=self.conversation,
        )

    async def ask(self, asked: Asked, times: int = 1) -> Answer | None:
        """Ask, at times after typing slowly; None if it is refused, which nothing here expects."""
        if self.rng.random() < 0.3:
            await self.tab.send(type="prefetch", text=asked.text, conversation=asked.conversation)
            await asyncio.sleep(self.rng.uniform(0, 0.5))
        answer = await self.tab.ask(asked, times)
        if answer is None:
            self.journal.problems.append(f"{asked.id} was refused: {asked.refused or 'no answer'}")
            self.begins_anew()
        else:
            self.conversation = answer.conversation or self.conversation
        return answer

    async def reads(self) -> None:
        """Ask, and read to the end; some time later look at it again."""
        if answer := await self.ask(self.question()):
            await self.tab.read(answer)
            if self.rng.random() < 0.2:
                await self.looks_at(answer.run)

    async def looks_at(self, run: str) -> None:
        """Open an answer that has ended in a tab of its own."""
        tab = self.new_tab()
        await tab.open()
        copy = tab.follow(run)
        await tab.resume(copy)
        await tab.read(copy)
        await tab.close()

    async def comes_back_to_all(self) -> None:
        """Look at every answer that was left for good."""
        for run in self.left:
            await self.looks_at(run)

    async def loses_the_network(self) -> None:
        """Be cut off in mid-answer, once or twice, and come back within the grace period."""
        answer = await self.ask(self.question())
        for _ in range(self.rng.randint(1, 2)):
            if answer is None or answer.ending or not await self.read_on(answer):
                break
            answer.away_seconds = await self.away(cut=True)
            await self.tab.resume(answer)
        if answer:
            await self.tab.read(answer)

    async def read_on(self, answer: Answer) -> bool:
        """Read some more frames."""
        return await self.tab.read(answer, answer.position + self.rng.randint(0, 25))

    async def away(self, *, cut: bool) -> float:
        """Lose the socket, and open one to another process; return the seconds in between."""
        gone = time.monotonic()
        await self.tab.close(cut=cut)
        await asyncio.sleep(self.rng.uniform(0, GRACE_SECONDS / 2.5 if cut else 0.3))
        await self.tab.open()
        return time.monotonic() - gone

    async def reloads(self) -> None:
        """Load the page again in mid-answer: it knows nothing, and begins at the first frame."""
        answer = await self.ask(self.question())
        if answer and await self.read_on(answer):
            away = await self.away(cut=False)
            del self.tab.answers[answer.run]
            copy = self.tab.follow(answer.run)
            copy.away_seconds = away
            if self.conversation:
                copy.rewinds += 1
                await self.tab.send(type="watch", conversation=self.conversation)
            await self.tab.resume(copy)
            await self.tab.read(copy)

    async def stops(self) -> None:
        """Stop in mid-answer or right away, in the same tab or in another, by either name."""
        asked = self.question(*LONG, LONGEST)
        answer = await self.ask(asked)
        if answer is None or (self.rng.random() < 0.7 and not await self.read_on(answer)):
            return
        tab = self.tab
        if self.rng.random() < 0.5:
            tab = self.new_tab()
            await tab.open()
        name = self.rng.choice([{"run": answer.run}, {"ask": asked.id}])

        async def press() -> None:
            await tab.send(type="stop", **name)

        ended, asked.stopped = answer.ending, time.monotonic()
        await press()
        pressing = asyncio.create_task(
            tab.until(lambda: answer.ending, f"stop of {answer.run}", press)
        )
        await self.tab.read(answer)
        # A run whose process was killed does not stop: it is found to be interrupted, later.
        if answer.ending and answer.ending["type"] == "done" and not ended:
            self.journal.stop_seconds.append(time.monotonic() - asked.stopped)
        await pressing
        if tab is not self.tab:
            await tab.close()

    async def clicks_twice(self) -> None:
        """Ask the same thing twice, in one tab or in two at once."""
        asked = self.question()
        if self.rng.random() < 0.5:
            if answer := await self.ask(asked, times=2):
                await self.tab.read(answer)
            return
        other = self.new_tab()
        await other.open()
        both = await asyncio.gather(self.tab.ask(asked), other.ask(asked))
        for tab, answer in zip((self.tab, other), both, strict=True):
            if answer is None:
                self.journal.problems.append(f"{asked.id}, asked twice: {asked.refused}")
            else:
                await tab.read(answer)
        if len({answer.run for answer in both if answer}) != 1:
            self.journal.problems.append(f"{asked.id}, asked twice, became two runs")
        self.begins_anew()
        await other.close()

    async def leaves(self) -> None:
        """Ask, read a little, and go away for good."""
        asked = self.question(*LONG, LONGEST)
        answer = await self.ask(asked)
        if answer and await self.read_on(answer):
            await self.tab.close(cut=self.rng.random() < 0.5)
            asked.left = time.monotonic()
            self.left.append(answer.run)
            self.begins_anew()
            self.tab = self.new_tab()
            await self.tab.open()

    async def asks_too_early(self) -> None:
        """Ask a second thing while the first is being answered, which is refused."""
        answer = await self.ask(self.question(*LONG))
        if answer is None:
            return
        early = self.question()
        second = await self.tab.ask(early)
        if second is None and early.refused != "busy":
            self.journal.problems.append(f"{early.id} was refused as {early.refused or 'stuck'}")
        for each in (answer, second):
            if each:
                await self.tab.read(each)

    async def has_two_tabs(self) -> None:
        """Have the conversation open in a second tab, which sees what the first one asks."""
        if self.conversation is None:
            return await self.reads()
        watched, asked, other = self.conversation, self.question(), self.new_tab()

        async def watch() -> None:
            if asked.run:  # what a page does that comes back, once it knows of the run
                await other.resume(other.follow(asked.run))
            else:
                await other.send(type="watch", conversation=watched)

        await other.open()
        await watch()
        await asyncio.sleep(self.rng.choice([0, 0.05, 0.3]))
        if answer := await self.ask(asked):
            run = answer.run
            seen = other.until(lambda: run in other.answers, f"{run} is not seen", watch)
            reading, _ = await asyncio.gather(self.tab.read(answer), seen)
            if reading and run in other.answers:
                await other.read(other.answers[run])
        return await other.close()
