"""How well grounding tells what passages say from what they do not, and how long it takes.

    python -m benchmarks.grounding [--sample N] [--half 1] [--only cases] [--json FILE]

Prints Markdown tables. It needs no database and no site; docs/grounding.md has the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

from benchmarks import grounding_cases, windows

if TYPE_CHECKING:
    from benchmarks.grounding_cases import Case
    from chat.answering.citations import CitedAnswer

LANGUAGES = ("de", "es", "zh", "ar")
SENTENCES, PASSAGES = 20, 5
ANSWERS = 30
# As fast as models write; a sentence has about so many tokens.
TOKENS_A_SECOND = 200
TOKENS = 25
SUPPORTS = ("supported", "partly", "unsupported")


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=Path, default=windows.DEFAULT_SETS, help="the judged sets")
    parser.add_argument("--sample", type=int, default=300, help="statements of each other set")
    parser.add_argument("--kinds", default="", help="only kinds that begin so")
    parser.add_argument("--half", type=int, choices=(0, 1), help="only this half of the questions")
    parser.add_argument("--only", choices=("cases", "times"), help="measure nothing else")
    parser.add_argument("--json", type=Path, help="write all that was measured there")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")
    django.setup()
    cases = [
        case
        for case in cases_of(options.sets, options.sample)
        if options.half in (None, case.half) and case.kind.startswith(options.kinds)
    ]
    results = asyncio.run(measure(cases, options.only))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


def cases_of(sets: Path, sample: int) -> list[Case]:
    """Return every case of the altered passages, and a sample of the others."""
    english = sets / "xquad-en"
    found = list(grounding_cases.counterfactual(sets / "counterfactual-en"))
    others = [
        grounding_cases.falsified(english),
        grounding_cases.questions(english, "en"),
        grounding_cases.hotpot(sets / "hotpotqa-100"),
        *(grounding_cases.altered(sets / f"xquad-{code}", code) for code in ("en", *LANGUAGES)),
        *(grounding_cases.elsewhere(sets / f"xquad-{code}", code) for code in ("en", *LANGUAGES)),
        *(grounding_cases.questions(sets / f"xquad-{code}", code) for code in LANGUAGES),
        *(
            grounding_cases.translations(sets / f"xquad-{code}", code, english)
            for code in LANGUAGES
        ),
        *(grounding_cases.questions(sets / f"xquad-{code}", code, english) for code in LANGUAGES),
    ]
    for each in others:
        every = list(each)
        # The same each time: this is no secret.
        found += every if len(every) <= sample else random.Random(1).sample(every, sample)
    return found


async def measure(cases: Sequence[Case], only: str | None) -> dict[str, Any]:
    """Return the shares of verdicts by kind, and times in milliseconds; print both."""
    results: dict[str, Any] = {}
    if only != "times":
        verdicts: dict[tuple[str, str], list[str]] = defaultdict(list)
        for case in cases:
            verdicts[case.kind, case.truth].append(await support_of(case))
        results["cases"] = [
            {"kind": kind, "truth": truth, "count": len(found)}
            | {support: round(found.count(support) / len(found), 3) for support in SUPPORTS}
            for (kind, truth), found in sorted(verdicts.items())
        ]
        table(results["cases"])
        if summary := altered_numbers(verdicts):
            results["altered numbers"] = summary
            print(
                f"\nAltered numbers: {summary['found']:.3f} found of {summary['altered']},"
                f" {summary['false_alarms']:.3f} false alarms of {summary['right']}.\n"
            )
    if only != "cases":
        results["times"] = [await times_of(cases, live=live) for live in (True, False)]
        table(results["times"])
    return results


def altered_numbers(verdicts: dict[tuple[str, str], list[str]]) -> dict[str, float]:
    """Return how many altered numbers are found, and how many right ones are said not to be."""
    kinds = ("question and answer", "quotation")
    altered = [verdict for kind in kinds for verdict in verdicts[kind, "altered"]]
    right = [verdict for kind in kinds for verdict in verdicts[kind, "right"]]
    if not altered or not right:
        return {}
    return {
        "altered": len(altered),
        "found": round(sum(each != "supported" for each in altered) / len(altered), 3),
        "right": len(right),
        "false_alarms": round(sum(each != "supported" for each in right) / len(right), 3),
    }


async def support_of(case: Case) -> str:
    """Return the verdict on a statement, by the way every answer goes."""
    from chat.answering.grounding import Grounder  # noqa: PLC0415 - Django is set up by now

    cited = answer_from([case])
    list(cited.feed(f"{case.claim.rstrip('.')} [1]."))
    list(cited.finish())
    grounding = await Grounder(cited).finish()
    return grounding.citations[0].support


def answer_from(cases: Sequence[Case]) -> CitedAnswer:
    """Return an answer, still empty, that may cite the passages of cases."""
    from chat.answering.citations import CitedAnswer  # noqa: PLC0415
    from chat.frames import Source  # noqa: PLC0415
    from retrieval.backends.base import Passage  # noqa: PLC0415
    from retrieval.search.hits import split  # noqa: PLC0415

    def passage(number: int, case: Case) -> Passage:
        return Passage(
            number,
            case.passage,
            case.title,
            language=case.language,
            analyse=lambda text: split(text, case.language),
        )

    sources = [
        Source(index=number, source_id="", document_id="", title=case.title, snippet="")
        for number, case in enumerate(cases, 1)
    ]
    return CitedAnswer([passage(number, case) for number, case in enumerate(cases, 1)], sources)


async def times_of(cases: Sequence[Case], *, live: bool) -> dict[str, Any]:
    """Return how long the end of an answer of 20 sentences from 5 passages waits.

    `live` lets each sentence take the time that a fast model needs for it; otherwise all of the
    answer is there at once, as from a cache.
    """
    from chat.answering import meaning  # noqa: PLC0415

    by_passage: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.kind == "en" and case.truth == "right":
            by_passage[case.passage].append(case)
    full = [found for found in by_passage.values() if len(found) >= SENTENCES // PASSAGES]
    taken = []
    for number in range(ANSWERS):
        meaning._vectors.clear()  # nothing is known of other answers
        chosen = random.Random(number).sample(full, PASSAGES)
        taken.append(await time_of([each[: SENTENCES // PASSAGES] for each in chosen], live=live))
    ranked = sorted(taken)
    return {
        "answer": f"at {TOKENS_A_SECOND} tokens a second" if live else "all at once",
        "answers": len(ranked),
        "p50_ms": round(statistics.median(ranked) * 1000),
        "p95_ms": round(ranked[int(0.95 * (len(ranked) - 1))] * 1000),
        "max_ms": round(ranked[-1] * 1000),
    }


async def time_of(passages: Sequence[Sequence[Case]], *, live: bool) -> float:
    """Return the seconds from an answer's last token until it is checked."""
    from chat.answering.grounding import Grounder  # noqa: PLC0415
    from chat.frames import Citation  # noqa: PLC0415

    cited = answer_from([cases[0] for cases in passages])
    grounder = Grounder(cited)
    for number, cases in enumerate(passages, 1):
        for case in cases:
            if live:
                await asyncio.sleep(TOKENS / TOKENS_A_SECOND)
            for frame in cited.feed(f"{case.claim.rstrip('.')} [{number}]. "):
                if isinstance(frame, Citation):
                    grounder.look()
    list(cited.finish())
    begun = time.perf_counter()
    await grounder.finish()
    return time.perf_counter() - begun


def table(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a Markdown table."""
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


if __name__ == "__main__":
    main()
