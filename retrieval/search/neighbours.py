"""Chunks that follow each other in a document, made one passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from uuid import UUID

from retrieval.search.hits import Hit

# Chunks of one passage: more would bury what was found.
LONGEST = 4

Key = tuple[UUID, int]


def merge(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with neighbours as one, in the place of the better one.

    Its text is that of the document, without what the chunks share; its scores and its id are the
    better one's.
    """
    left = {(hit.place.version_id, hit.place.ordinal): hit for hit in hits if hit.place}
    merged = []
    for hit in hits:
        if hit.place is None:
            merged.append(hit)
        elif (hit.place.version_id, hit.place.ordinal) in left:
            run = around(hit.place.version_id, hit.place.ordinal, left)
            merged.append(join(hit, run) if len(run) > 1 else hit)
    return merged


def around(version: UUID, ordinal: int, left: dict[Key, Hit]) -> list[Hit]:
    """Take a chunk and its neighbours out of what is left, in the order of the document."""
    before = consecutive(left, version, range(ordinal - 1, ordinal - LONGEST, -1))
    after = consecutive(left, version, range(ordinal, ordinal + LONGEST))
    # What comes after explains more often than what came before.
    after = after[:LONGEST]
    taken = [*reversed(before[: LONGEST - len(after)]), *after]
    for hit in taken:
        if hit.place:
            del left[version, hit.place.ordinal]
    return taken


def consecutive(left: Mapping[Key, Hit], version: UUID, ordinals: range) -> list[Hit]:
    """Return the chunks of these ordinals, up to the first that is not there."""
    return [
        left[version, ordinal]
        for ordinal in takewhile(lambda ordinal: (version, ordinal) in left, ordinals)
    ]


def join(best: Hit, run: Sequence[Hit]) -> Hit:
    """Return a run of chunks as one hit, which `best` of them stands for."""
    text, end = "", 0
    parts = []
    for hit in run:
        if hit.place is None:
            raise ValueError("only chunks with a place have neighbours")
        shared = max(0, end - hit.place.start) if text else 0
        if text and not shared:
            text += "\n" * min(2, hit.place.start - end)
        parts.append((len(text) - shared, hit))
        text += hit.text[shared:]
        end = hit.place.end
    return replace(
        best,
        text=text,
        heading_path=common([hit.heading_path for hit in run]),
        page=run[0].page,
        parts=tuple(parts),
        repeats=(),
    )


def common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all paths begin with."""
    level = takewhile(lambda headings: len(set(headings)) == 1, zip(*paths, strict=False))
    return tuple(headings[0] for headings in level)
