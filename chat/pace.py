"""How often somebody may have a question searched for that they have not asked: in memory.

What is typed costs a search and no answer, so that it is not counted as a question is; but it is
not to be a way around that.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Hashable

# For each question that may be asked in a minute: people pause a few times while they type one.
LOOKS_A_QUESTION = 10
MOST_A_MINUTE = 120
# People who are remembered; of more than so many, those are forgotten who paused for longest.
PEOPLE = 10_000

_looks: OrderedDict[Hashable, deque[float]] = OrderedDict()


def may_look(who: Hashable, questions_a_minute: int) -> bool:
    """Whether `who` may have something searched for now; if so, it counts."""
    now = time.monotonic()
    looks = _looks.setdefault(who, deque())
    _looks.move_to_end(who)
    while looks and looks[0] <= now - 60:
        looks.popleft()
    if len(looks) >= min(MOST_A_MINUTE, LOOKS_A_QUESTION * questions_a_minute):
        return False
    looks.append(now)
    while len(_looks) > PEOPLE:
        _looks.popitem(last=False)
    return True


def forget() -> None:
    """Forget all that was looked for."""
    _looks.clear()
