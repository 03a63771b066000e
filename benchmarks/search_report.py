"""What the search benchmark measured, as a table beside the goals."""

from __future__ import annotations

from typing import Any

Result = dict[str, Any]
KINDS = {
    "rare": ("rare words", "≤ 1.5 × the floor's p50"),
    "common": ("rare and common words", "≤ 1.5 × the floor's p50"),
    "filtered": ("rare words, filter keeps 1 %", "–"),
}
CROWDS = {"at_once": "rare words", "at_once_common": "rare and common words"}


def table(results: list[Result]) -> str:
    """Return a Markdown table, three columns a size: the floor, the product, and their ratio."""
    sizes = [f"{result['size']:,}" for result in results]
    columns = [f"{size}: floor | product | ratio" for size in sizes]
    lines = [f"| | {' | '.join(columns)} | goal |", "|---" * (3 * len(sizes) + 2) + "|"]
    for kind, (name, goal) in KINDS.items():
        lines.append(row(f"{name}: p50, p95", [times(each, kind) for each in results], goal))
    for kind, name in CROWDS.items():
        cells = [rates(each, kind) for each in results]
        lines.append(row(f"32 at once, {name}: queries/s (p50, p95)", cells, "≥ 0.7 × the floor's"))
    recalls = [
        (f"{each['floor']['recall']:.3f} (ef_search {each['floor']['ef_search']})",
         f"{each['product']['recall']:.3f}", "–") for each in results
    ]  # fmt: skip
    lines.append(row("recall@10 of the vector index", recalls, "≥ 0.95"))
    filtered = [("–", f"{each['product']['recall_filtered']:.3f}", "–") for each in results]
    lines.append(row("recall@10 with the filter", filtered, "≥ 0.98"))
    memory = [("–", memory_of(each["product"]["memory"]), "–") for each in results]
    lines.append(row("memory", memory, "–"))
    return "\n".join([*lines, *growth(results)])


def row(name: str, cells: list[tuple[str, str, str]], goal: str) -> str:
    """Return one row."""
    return f"| {name} | {' | '.join(cell for each in cells for cell in each)} | {goal} |"


def times(result: Result, kind: str) -> tuple[str, str, str]:
    """Return the times of one question after the other, and the ratio of the medians."""
    floor, product = result["floor"][kind], result["product"][kind]
    ratio = product["p50"] / floor["p50"]
    return (*(f"{each['p50']}, {each['p95']} ms" for each in (floor, product)), f"{ratio:.2f}")


def rates(result: Result, kind: str) -> tuple[str, str, str]:
    """Return questions a second with 32 at once, and the ratio."""
    floor, product = result["floor"][kind], result["product"][kind]
    cells = (f"{each['qps']}/s ({each['p50']}, {each['p95']} ms)" for each in (floor, product))
    return (*cells, f"{product['qps'] / floor['qps']:.2f}")


def memory_of(memory: dict[str, float]) -> str:
    """Return what the process and the database take."""
    return (
        f"process {memory['process']} MB (+{memory['grown']} MB while it was asked),"
        f" tables {memory['tables']} MB, indexes {memory['indexes']} MB"
    )


def growth(results: list[Result]) -> list[str]:
    """Return how p95 grows from the smallest to the largest size."""
    if len(results) < 2:
        return []
    first, last = results[0], results[-1]
    ratios = (
        f"{name} {last['product'][kind]['p95'] / first['product'][kind]['p95']:.2f} ×"
        for kind, (name, _) in KINDS.items()
    )
    sizes = f"{first['size']:,} to {last['size']:,}"
    return ["", f"p95 of the product from {sizes} passages (goal < 3 ×): {'; '.join(ratios)}."]
