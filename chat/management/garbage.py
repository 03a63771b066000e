"""Garbage collection of a process that answers for as long as it runs."""

from __future__ import annotations

import gc

# New objects before the collector looks at them, and how often it looks at older ones: an answer
# makes thousands, and 700 are the default.
COLLECT_AFTER = (20_000, 10, 100)


def freeze() -> None:
    """Collect what is garbage by now, and never look at the rest again.

    The collector went over everything that was ever imported, 100 ms and more each time, while
    streams waited.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
