"""How well a passage supports a statement: by its words, by its meaning, and by what must agree.

Everything here is computed at once; vectors come from `meaning.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from chat.answering.agreement import (
    Facts,
    facts,
    is_denied,
    missing_names,
    missing_numbers,
    said_in,
)
from chat.frames import Support
from retrieval.backends.base import Passage, Sentence
from retrieval.text import language as languages
from retrieval.text import sentences
from retrieval.text.terms import units

# Shares of words and meaning in the score; measured, as all of these: see docs/grounding.md.
WORDS, MEANING = 0.6, 0.4
SUPPORTED, PARTLY = 0.5, 0.36
# The same where statement and passage are in different languages: by meaning alone.
SUPPORTED_ACROSS, PARTLY_ACROSS = 0.45, 0.3
# From this share of its words on a statement restates one sentence, and has to say just that.
RESTATES = 0.85
MOST = 0.5
# And from this on nobody needs to look at its meaning.
PLAIN = 0.7
_marks = re.compile(r"\\(?=[^\w\s])|[*_`]")


@dataclass(frozen=True)
class Statement:
    """What an answer says and cites a passage for, in a language (ISO 639-1, "" if unknown)."""

    text: str
    language: str = ""

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its words and their stems, without stop words."""
        return terms_of(sentences.split(self.text, self.language))

    @cached_property
    def facts(self) -> Facts:
        """Its numbers and names."""
        return facts(_marks.sub("", self.text), self.language)

    @cached_property
    def script(self) -> str:
        """The script it is written in."""
        return languages.script(self.text)

    @cached_property
    def said(self) -> frozenset[str]:
        """Its terms without those of its numbers."""
        numbers = frozenset(unit for each in self.facts.numbers for unit in units(each.text))
        return (self.terms - numbers) or self.terms


@dataclass(frozen=True)
class Evidence:
    """A passage to hold statements against."""

    passage: Passage

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences; its text as one if it has none."""
        text = self.passage.text
        return self.passage.sentences or (Sentence(text, 0, len(text), frozenset()),)

    @cached_property
    def script(self) -> str:
        """The script it is written in."""
        return languages.script(self.passage.text)

    @cached_property
    def facts(self) -> list[Facts]:
        """The numbers and names of each sentence."""
        return [facts(each.text, self.passage.language) for each in self.sentences]

    @cached_property
    def facts_above(self) -> Facts:
        """Those of what stands above it."""
        return facts(self.above, self.passage.language)

    @cached_property
    def all_facts(self) -> list[Facts]:
        """Those of its sentences, and of what stands above it."""
        return [*self.facts, self.facts_above]

    @cached_property
    def above(self) -> str:
        """What stands above it."""
        return f"{self.passage.title}\n{self.passage.heading}"

    @cached_property
    def terms_above(self) -> frozenset[str]:
        """The terms of what stands above it."""
        return terms_of(sentences.split(self.above, self.passage.language))

    @cached_property
    def around(self) -> list[frozenset[str]]:
        """For each sentence its terms, those of its neighbours, and of what stands above."""
        own = [each.terms for each in self.sentences]
        return [
            self.terms_above.union(*own[max(0, position - 1) : position + 2])
            for position in range(len(own))
        ]

    @cached_property
    def said(self) -> frozenset[str]:
        """The texts of its sentences, as rows of words."""
        return frozenset(row(each.text) for each in self.sentences)


@dataclass(frozen=True)
class Verdict:
    """How well a passage supports a statement, and by which of its sentences.

    `score` is in [0, 1]. `why` says what does not agree: `numbers`, `names`, `denied`, `meaning`.
    """

    support: Support
    score: float
    sentence: Sentence
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A statement beside a passage, before anybody looks at its meaning."""

    statement: Statement
    evidence: Evidence
    beside: Sequence[Evidence] = ()
    """Other passages that it cites in the same breath: what is missing may stand there."""
    words: Sequence[float] = field(default=(), repr=False)
    """The share of the statement's terms that each sentence has with what is around it."""

    @cached_property
    def across(self) -> bool:
        """Whether they are in different languages, as far as is known, or in different scripts."""
        ours, theirs = self.statement.language, self.evidence.passage.language
        return bool(ours and theirs and ours != theirs) or self.evidence.script not in (
            self.statement.script,
            "",
        )

    @property
    def is_plain(self) -> bool:
        """Whether the words say enough."""
        return max(self.words) >= PLAIN and not self.across

    def verdict(self, alike: Sequence[float] | None = None) -> Verdict:
        """Return the verdict; `alike` says how near in meaning each sentence is, 0 to 1."""
        best, score = self._best(alike)
        sentence, own = self.evidence.sentences[best], self.evidence.facts[best]
        shared = _share(self.statement.said, sentence.terms)
        restates = shared >= RESTATES and not self.across
        restated = self._restates_whole(best)
        beside = [each for other in self.beside for each in other.all_facts]
        whole = [*self.evidence.all_facts, *beside]
        near = [] if restates else self._facts_near(best)
        numbers = missing_numbers(self.statement.facts, own, near, beside, strictly=restates)
        why = []
        if numbers:
            why.append("numbers")
        if not self.across and missing_names(self.statement.facts, whole):
            why.append("names")
        if not self.across and is_denied(self.statement.facts, own, restated=restated):
            why.append("denied")
        support = self._support(score)
        if support != "supported":
            why.append("meaning")
        elif why:
            nowhere = [number for number in numbers if not said_in(near, number)]
            all_wrong = nowhere and len(nowhere) == len(self.statement.facts.numbers)
            support = "unsupported" if all_wrong or (restated and "denied" in why) else "partly"
        return Verdict(support, round(score, 3), sentence, tuple(why))

    def _facts_near(self, position: int) -> list[Facts]:
        """Return the facts of a sentence, of those beside it, and from above.

        And of those that say what these do not: the row of a table under its heading.
        """
        more = self.statement.said - self.evidence.around[position]
        every = enumerate(zip(self.evidence.sentences, self.evidence.facts, strict=True))
        return [self.evidence.facts_above] + [
            found
            for other, (sentence, found) in every
            if self.across or abs(other - position) <= 1 or not more.isdisjoint(sentence.terms)
        ]

    def _restates_whole(self, position: int) -> bool:
        """Whether it says what a sentence says, in words of its neighbourhood, and most of that."""
        sentence = self.evidence.sentences[position]
        most = _share(sentence.terms, self.statement.terms) >= MOST
        return most and not self.across and self.words[position] >= RESTATES

    def _best(self, alike: Sequence[float] | None) -> tuple[int, float]:
        """Return the position of the sentence that supports most, no heading, and the score."""
        own = [_share(self.statement.terms, each.terms) for each in self.evidence.sentences]
        if alike is None:
            places = [0.5 * one + 0.5 * near for one, near in zip(own, self.words, strict=True)]
            return self._largest(places), max(self.words)
        if self.across:
            return self._largest(alike), max(alike)
        scores = [WORDS * w + MEANING * m for w, m in zip(self.words, alike, strict=True)]
        places = [0.5 * one + score for one, score in zip(own, scores, strict=True)]
        return self._largest(places), max(scores)

    def _largest(self, values: Sequence[float]) -> int:
        stating = [n for n, each in enumerate(self.evidence.sentences) if not each.is_heading]
        return max(stating or range(len(values)), key=values.__getitem__)

    def _support(self, score: float) -> Support:
        high, low = (SUPPORTED_ACROSS, PARTLY_ACROSS) if self.across else (SUPPORTED, PARTLY)
        return "supported" if score >= high else "partly" if score >= low else "unsupported"


def compare(
    statement: Statement, evidence: Evidence, beside: Sequence[Evidence] = ()
) -> Comparison:
    """Put a statement beside a passage, and others that it cites in the same breath."""
    shares = [_share(statement.terms, around) for around in evidence.around]
    return Comparison(statement, evidence, beside, shares)


def quoted(statement: Statement, evidence: Evidence) -> Verdict | None:
    """Return the verdict on a statement that is a sentence of the passage, word by word."""
    text = row(_marks.sub("", statement.text))
    if text not in evidence.said:
        return None
    sentence = next(each for each in evidence.sentences if row(each.text) == text)
    return Verdict("supported", 1.0, sentence)


def row(text: str) -> str:
    """Return the words of a text in a row."""
    return " ".join(units(text))


def terms_of(split: Sequence[Sentence]) -> frozenset[str]:
    """Return the terms of sentences."""
    return frozenset[str]().union(*(each.terms for each in split))


def _share(terms: frozenset[str], known: frozenset[str]) -> float:
    return len(terms & known) / len(terms) if terms else 0.0
