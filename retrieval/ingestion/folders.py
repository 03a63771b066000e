"""Which files of a folder are taken: by patterns, without hidden ones, without going in circles."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec


@dataclass(frozen=True)
class Found:
    """A file and the folder that its document stands in, below the folder it was found from."""

    path: Path
    folder: str = ""


class Chosen:
    """What is taken of a folder, by patterns as in .gitignore: all if nothing is to be included.

    `*.pdf` is of names at any depth, `drafts/` of a folder with all that is in it, `2025/**/*.md`
    of paths. Case does not matter.
    """

    def __init__(
        self, include: Sequence[str] = (), exclude: Sequence[str] = (), *, hidden: bool = False
    ) -> None:
        self.include = _patterns(include) if include else None
        self.exclude = _patterns(exclude)
        self.hidden = hidden

    def takes(self, path: Path, root: Path) -> bool:
        """Whether a file below a folder is taken; it need not be there (any more)."""
        relative = path.relative_to(root)
        if not self.hidden and any(part.startswith(".") for part in relative.parts):
            return False
        name = relative.as_posix().lower()
        if self.exclude.match_file(name):
            return False
        return self.include is None or self.include.match_file(name)


def _patterns(lines: Sequence[str]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(line.lower() for line in lines)


def find(roots: Sequence[Path], chosen: Chosen) -> Iterator[Found]:
    """Yield the files of folders, and files that are named themselves."""
    for root in roots:
        if root.is_dir():
            met: set[tuple[int, int]] = set()
            for path in _walk(root, met, hidden=chosen.hidden):
                if chosen.takes(path, root):
                    yield found_in(root, path)
        else:
            yield Found(root)


def found_in(root: Path, path: Path) -> Found:
    """Return a file of a folder with where its document stands."""
    folder = path.relative_to(root).parent.as_posix()
    return Found(path, "" if folder == "." else folder)


def _walk(root: Path, met: set[tuple[int, int]], *, hidden: bool) -> Iterator[Path]:
    """Yield the files below a folder in order; links are followed, but no folder is met twice."""
    try:
        status = root.stat()
        names = sorted(os.listdir(root))  # noqa: PTH208 - names are what is wanted
    except OSError:
        return
    if (status.st_dev, status.st_ino) in met:
        return
    met.add((status.st_dev, status.st_ino))
    for name in names:
        path = root / name
        if name.startswith(".") and not hidden:
            continue
        if path.is_dir():
            yield from _walk(path, met, hidden=hidden)
        elif path.is_file():
            yield path


def expand(pattern: str) -> list[Path]:
    """Return what a path, or a pattern that the shell left alone, names."""
    if os.path.lexists(pattern):
        return [Path(pattern)]
    return [Path(found) for found in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207
