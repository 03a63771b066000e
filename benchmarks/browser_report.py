"""What browser.py measured, as tables beside the goals."""

from __future__ import annotations

import statistics
from typing import Any

MEGABYTE = 2**20
HEAD = (
    "| answer | frame to paint p50 / p95 / p99 | tasks over 50 ms | at its end | "
    "processor time of tasks: longest, p99 | writes a frame, at most | frames later than 50 ms | "
    "heap | elements |"
)


def table(results: dict[str, Any]) -> str:
    """Return what was measured, as Markdown."""
    lines = [
        HEAD,
        "|---|---|---|---|---|---|---|---|---|",
    ]
    kinds = results["kinds"]
    lines += [streamed(name, result) for name, result in kinds.items() if result["paints"]]
    lines += [
        "",
        "| opened again | seconds until all of it is there | tasks over 50 ms, longest | heap |",
        "|---|---|---|---|",
    ]
    again = {name: result.get("again", result) for name, result in kinds.items()}
    lines += [reopened(name, result) for name, result in again.items() if "opened" in result]
    lines += ["", f"First load, compressed: {results['weight'] / 1024:.0f} KB (goal ≤ 150 KB)."]
    return "\n".join(lines)


def streamed(name: str, result: dict[str, Any]) -> str:
    """Return the row of an answer that was streamed."""
    paints = " / ".join(f"{centile(result['paints'], share):.0f}" for share in (50, 95, 99))
    ended = result["ended"]
    begun = result["began"]
    during = [took for start, took in result["tasks"] if begun <= start < ended - took]
    after = [took for start, took in result["tasks"] if start >= ended - took]
    writes = result["writes"]
    most = f"{max(writes)} (in {writes.count(max(writes))} of {len(writes)})"
    worked = [each for each in result["busy"] if each > 1]
    work = f"{max(worked, default=0):.0f} ms, {centile(worked, 99):.0f} ms"
    late = sum(gap > 50 for gap in result["gaps"])
    return (
        f"| {name} | {paints} ms | {tasks(during)} | {tasks(after)} | {work} | {most} | "
        f"{late} of {len(result['gaps'])} | {result['heap'] / MEGABYTE:.1f} MB | "
        f"{result['elements']:,} |"
    )


def reopened(name: str, result: dict[str, Any]) -> str:
    """Return the row of an answer, or a conversation, that was loaded."""
    found = tasks([took for _, took in result["tasks"]])
    return f"| {name} | {result['opened']:.2f} | {found} | {result['heap'] / MEGABYTE:.1f} MB |"


def tasks(durations: list[float]) -> str:
    """Return how many tasks there were, and the longest."""
    return f"{len(durations)} ({max(durations):.0f} ms)" if durations else "none"


def centile(values: list[float], share: int) -> float:
    """Return a percentile; 0 of none."""
    if len(values) < 2:
        return values[0] if values else 0
    return statistics.quantiles(values, n=100)[share - 1]
