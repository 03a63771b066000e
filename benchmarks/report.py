"""The results as a table beside the goals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.servers import GRACE_SECONDS

Result = Mapping[str, Any]
MISSING = "–"
TITLES = {"two": "product, 2 processes"}
MEGABYTE = 2**20
# Tokens a second of the answers that are left (`fake-n1000-d10-f100`).
LEFT_RATE = 100


def first(result: Result) -> str:
    """Milliseconds to the first token beyond the provider's, one stream."""
    numbers = result["first"]["overhead_ms"]
    return f"{numbers['p50']} ms (p95 {numbers['p95']})"


def prefetched(result: Result) -> str:
    """Milliseconds to it after a prefetch."""
    return f"{result['prefetched_ms']:.1f} ms"


def throughput(result: Result) -> str:
    """Tokens a second through one stream at full speed."""
    return f"{result['throughput'][0]['tokens_per_s']:,}"


def streams(count: int) -> Callable[[Result], str]:
    """Overhead, gaps and losses of so many streams at once."""

    def cell(result: Result) -> str:
        level = next(each for each in result["concurrency"] if each["streams"] == count)
        return (
            f"{level['first_overhead_ms']['p50']} ms, {level['gap_ms']['p99']} ms;"
            f" {count - level['complete']} lost; CPU {level['server_cpu_pct']} %"
        )

    return cell


def stopped(result: Result) -> str:
    """Tokens the provider made after stop, at most."""
    return str(result["stop"]["stop"]["tokens_after_max"])


def left(result: Result) -> str:
    """Tokens the provider made after the grace period of a reader who left, at most."""
    gone = result["stop"]["disconnect"]
    if gone["tokens_after_max"] is None:
        return "not closed within 14 s"
    grace = result.get("grace", 0)
    return f"{max(0, round(gone['tokens_after_max'] - grace * LEFT_RATE))} (after {grace} s grace)"


def growth(result: Result) -> str:
    """Memory at the most streams over that of the idle process."""
    peak = max(level["server_rss_mb_peak"] for level in result["concurrency"])
    idle = result["idle_bytes"] / MEGABYTE
    return f"+{peak - idle:.0f} MB (idle {idle:.0f} MB)"


def sockets(result: Result) -> str:
    """Memory that idle sockets take."""
    alive, taken = result["idle_sockets"]
    return f"+{taken / MEGABYTE:.0f} MB ({alive:,} open)"


def rows(levels: list[int], idle: int) -> list[tuple[str, Callable[[Result], str], str]]:
    """Return what each row is called, how its cells are made, and the goal."""
    goals = {100: "≤ 20 ms, ≤ 90 ms", 200: "≤ 100 ms, ≤ 120 ms, none lost"}
    return [
        ("First token beyond the provider's, 1 stream", first, "≤ 10 ms"),
        ("… after a prefetch", prefetched, "≤ 5 ms"),
        ("Tokens/s, one stream at full speed", throughput, "≥ 20,000"),
        *(
            (f"{count} streams: overhead p50, gap p99", streams(count), goals.get(count, MISSING))
            for count in levels
        ),
        ("Tokens made after stop", stopped, "≤ 2"),
        (f"Tokens made after leaving and the grace period ({GRACE_SECONDS} s)", left, "0"),
        (f"Memory at {max(levels)} streams", growth, "≤ +300 MB"),
        (f"{idle:,} idle sockets", sockets, "≤ +300 MB"),
    ]


def table(results: Mapping[str, Result], levels: list[int], idle: int) -> str:
    """Return a Markdown table, a column a system; what was not measured is a dash."""
    lines = [
        f"| | {' | '.join(TITLES.get(name, name) for name in results)} | goal |",
        f"|---|{'---|' * len(results)}---|",
    ]
    for name, cell, goal in rows(levels, idle):
        cells = []
        for result in results.values():
            try:
                cells.append(cell(result))
            except (KeyError, TypeError):
                cells.append(MISSING)
        lines.append(f"| {name} | {' | '.join(cells)} | {goal} |")
    return "\n".join(lines)
