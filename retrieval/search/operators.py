"""Search operators, where a caller asks for that syntax: `"exact words"` and `-excluded`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from retrieval.search import term_statistics
from retrieval.search.query import analyse
from retrieval.text import fulltext

if TYPE_CHECKING:
    from retrieval.backends.base import Query
    from retrieval.search.scope import Scope
    from retrieval.search.settings import SearchSettings

# Of either kind; more are words like any others.
MOST = 20
# A minus counts at the beginning of a word: AB-12 and a lone dash are none.
_operator = re.compile(
    r"""(?<!\S)(?P<minus>-)?(?:"(?P<straight>[^"]*\w[^"]*)"|[“„«](?P<curly>[^“”„«»]*\w[^“”„«»]*)[”“»])
    |(?<!\S)-(?P<word>\w\S*)""",
    re.VERBOSE,
)


class Operators(NamedTuple):
    """A question without its operators, what must stand in a chunk, and what must not."""

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def read(text: str) -> Operators:
    """Return the operators of a question; the words of a phrase stay part of its text."""
    phrases: list[str] = []
    excluded: list[str] = []

    def take(found: re.Match[str]) -> str:
        quoted = found["straight"] or found["curly"]
        taken = excluded if found["word"] or found["minus"] else phrases
        if len(taken) == MOST:
            return found[0]
        taken.append(quoted or found["word"])
        return quoted if taken is phrases else " "

    plain = " ".join(_operator.sub(take, text).split())
    return Operators(plain, tuple(phrases), tuple(excluded))


async def apply(query: Query, scope: Scope, settings: SearchSettings) -> tuple[Query, Scope]:
    """Return a query without operators, and the scope that they leave, once.

    What is searched for beside the query stays in that scope, and has no operators of its own.
    Raises DatabaseError.
    """
    if settings.query_syntax != "operators" or scope.operators_read:
        return query, scope
    found = read(query.text)
    languages = await term_statistics.languages() if found.phrases or found.excluded else []
    words = " & ".join(_matching(found.phrases, languages))
    without = " | ".join(_matching(found.excluded, languages))
    return analyse(found.text), replace(scope, words=words, without=without, operators_read=True)


def plain(query: Query, settings: SearchSettings) -> Query:
    """Return a query without its operators, if it may have some."""
    return analyse(read(query.text).text) if settings.query_syntax == "operators" else query


def _matching(texts: Iterable[str], languages: list[str]) -> list[str]:
    return [query for text in texts if (query := fulltext.phrase(text, languages))]
