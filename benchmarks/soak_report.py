"""What a soak did and found, as a table."""

from __future__ import annotations

import bisect
import statistics
from collections import Counter
from dataclasses import dataclass

from benchmarks.report import MEGABYTE, MISSING
from benchmarks.soak_journal import Journal
from benchmarks.soak_site import PROCESSES
from chat.models import Run, RunState

# Until then a process still fills what it keeps for good.
WARM_UP = 0.25


@dataclass(frozen=True)
class Memory:
    """What a process took, after warming up and at the end, while it gave so many answers."""

    first: float
    last: float
    answers: int
    # Megabytes per 1,000 answers, by linear regression.
    slope: float

    def __str__(self) -> str:
        return (
            f"{self.first:.0f} MB → {self.last:.0f} MB in {self.answers:,} answers of its own "
            f"({self.slope:+.1f} MB per 1,000)"
        )


def memory(journal: Journal, process: int) -> Memory | None:
    """Return how the memory of a process grew; None if it was watched for too short a time."""
    own = Run.objects.filter(owner__contains=f":{process}:").order_by("created_at")
    times = [began.timestamp() for began in own.values_list("created_at", flat=True)]
    samples = journal.memory[round(WARM_UP * len(journal.memory)) :]
    counts = [bisect.bisect(times, when) for when, _ in samples]
    sizes = [size / MEGABYTE for _, size in samples]
    if len(samples) < 10 or counts[0] == counts[-1]:
        return None
    tenth = len(sizes) // 10
    return Memory(
        first=statistics.mean(sizes[:tenth]),
        last=statistics.mean(sizes[-tenth:]),
        answers=counts[-1] - counts[0],
        slope=1000 * statistics.linear_regression(counts, sizes).slope,
    )


def table(journal: Journal, grown: Memory | None, broken: int, minutes: float) -> str:
    """Return a Markdown table."""
    did = journal.did
    refused = sum(bool(asked.refused) for asked in journal.asked.values())
    seconds = journal.stop_seconds
    rows = {
        "Time": f"{minutes:g} minutes, {PROCESSES} web processes",
        "Processes killed; drained": f"{did['kill']}; {did['drain']}",
        "Questions": f"{len(journal.asked):,}; {refused} came too early and were refused",
        "Answers": endings(),
        "Frames read": f"{journal.frames:,}",
        "Cut off in mid-answer; reloaded": f"{did['loses_the_network']}; {did['reloads']}",
        "Lost their process, and came back to another": f"{did['reconnect']}",
        "Stopped; left for good": f"{did['stops']}; {did['leaves']}",
        "Asked twice; read in two tabs": f"{did['clicks_twice']}; {did['has_two_tabs']}",
        "From stop until the end is read": milliseconds(seconds),
        "Memory of the process that stayed": str(grown or MISSING),
        "Lost, doubled, changed or stuck": f"{broken}",
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {rows[key]} |" for key in rows)])


def endings() -> str:
    """Return how many runs ended in which way."""
    states = Counter(Run.objects.values_list("state", flat=True))
    return ", ".join(f"{states[state]:,} {state}" for state in RunState if states[state])


def milliseconds(seconds: list[float]) -> str:
    """Return how long something took."""
    if len(seconds) < 2:
        return MISSING
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    p50, p99, longest = (round(1000 * value) for value in (cuts[49], cuts[98], max(seconds)))
    return f"p50 {p50} ms, p99 {p99:,} ms, longest {longest:,} ms"
