"""What must agree between a statement and its evidence: numbers, names, and what is denied."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as Group
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache

from retrieval.text import language as languages
from retrieval.text.folding import fold
from retrieval.text.quantities import NTH, Quantity, agrees, quantities
from retrieval.text.terms import words

# Languages that write every noun with a capital, so that it is no sign of a name.
NOUNS_CAPITALISED = frozenset({"de", "lb"})
# Texts whose numbers and names are remembered: passages are cited again and again.
REMEMBERED = 2000
# Numbers in words up to here may count what the evidence lists: the two examples, its three parts.
COUNTING = 4
# First and second tell more often what was said than what is in a row.
ORDINARY = 2
# Names that are this much alike are spellings of one.
SPELT_ALIKE = 0.8
# The longest acronym.
SHORT = 5
# A word that denies has to do with as many of those behind it.
DENIED_WORDS = 4

NEGATIONS = {
    "en": "not no never none neither nor nobody nothing nowhere without cannot unable",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne",
    "fr": "ne n pas jamais aucun aucune rien personne sans ni",
    "es": "no nunca jamas ningun ninguno ninguna nada nadie sin tampoco ni",
    "it": "non mai nessun nessuno nessuna niente nulla senza ne",
    "pt": "nao nunca jamais nenhum nenhuma nada ninguem sem nem",
    "nl": "niet geen nooit niemand niets zonder noch",
    "sv": "inte ingen inget inga aldrig utan",
    "da": "ikke ingen intet aldrig uden",
    "no": "ikke ingen ingenting aldri uten",
    "pl": "nie nigdy nikt nic bez ani",
    "ru": "не нет ни никогда никто ничего без",
    "uk": "не ні ніколи ніхто нічого без",
    "tr": "degil yok hic asla",
    "ar": "لا لم لن ليس ليست غير دون بدون",
}
_unspaced_negation = re.compile(r"[不没沒未]|ない|ません|なかった|ไม่")
_contraction = re.compile(r"n['’]t\b", re.IGNORECASE)
_word = re.compile(r"[^\W_]+")
_capital = re.compile(r"[^\W\d_][\w'’-]*")
# Letters of scripts that part their words, and digits: AB-12, B2B, COVID-19.
_code = re.compile(r"(?<!\w)[A-Za-z\u00c0-\u024f\u0400-\u04ff]+-?\d[\w-]*", re.ASCII)
_opening = re.compile(r"(?:^|[.!?:;。！？¿¡]\s*|[\n“”„\"«»(*]\s*)$")


@dataclass(frozen=True)
class Facts:
    """What of a text can be compared one by one; `denied` are the words behind each negation."""

    numbers: tuple[Quantity, ...]
    counted: tuple[frozenset[str], ...]
    """The words behind each number: what it counts."""
    names: tuple[str, ...]
    words: tuple[str, ...]
    denied: tuple[frozenset[str], ...]


@lru_cache(maxsize=REMEMBERED)
def facts(text: str, language: str) -> Facts:
    """Return the numbers, names and words of a text in a language, and what it denies."""
    found = tuple(quantities(text, language))
    return Facts(
        found,
        tuple(frozenset(_word.findall(fold(text[each.end :][:60]))[:3]) for each in found),
        tuple(dict.fromkeys(names(text, language))),
        tuple(words(text)),
        tuple(negations(text, language)),
    )


def names(text: str, language: str) -> list[str]:
    """Return the folded words that are names by their capitals, and codes such as AB-12."""
    found = [fold(match[0]) for match in _code.finditer(text)]
    if language in NOUNS_CAPITALISED:
        return found
    stop = languages.stop_words(language or "en")
    for match in _capital.finditer(text):
        if not match[0][0].isupper() or _opening.search(text[: match.start()]):
            continue
        folded = re.sub(r"['’]s?$", "", fold(match[0].rstrip(".-")))
        if len(folded) > 1 and folded not in stop:
            found.append(folded)
    return found


def negations(text: str, language: str) -> list[frozenset[str]]:
    """Return the words behind each word that denies something, without those that say little."""
    found = [frozenset[str]() for _ in _unspaced_negation.finditer(text)]
    said = _word.findall(fold(_contraction.sub(" not", text)))
    denying, stop = _negations(language), languages.stop_words(language)
    return found + [
        frozenset(said[position + 1 : position + 1 + DENIED_WORDS]) - stop
        for position, word in enumerate(said)
        if word in denying
    ]


@cache
def _negations(language: str) -> frozenset[str]:
    return frozenset(NEGATIONS.get(language, "").split())


def missing_numbers(
    claim: Facts, own: Facts, near: Sequence[Facts], beside: Sequence[Facts], *, strictly: bool
) -> list[Quantity]:
    """Return the numbers of a statement that its evidence does not have.

    They may stand in the sentence that supports it (`own`), in other passages that it cites in the
    same breath (`beside`), or in sentences `near`, if its own does not say another number of the
    same. Unless `strictly`, small numbers in words are missing only where the evidence counts the
    same otherwise ("three parts" may stand above a list of them), "first" and "second" always.
    """
    gone = []
    for number, counted in zip(claim.numbers, claim.counted, strict=True):
        if said_in([own, *beside], number):
            continue
        contested = _counts_otherwise(number, counted, [own], claim)
        if said_in(near, number) and not contested:
            continue
        small = number.in_words and min(number.values) <= COUNTING
        ordinary = small and number.unit == NTH and min(number.values) <= ORDINARY
        certain = not ordinary if strictly else not small
        if certain or contested or _counts_otherwise(number, counted, [*near, *beside], claim):
            gone.append(number)
    return gone


def said_in(evidence: Iterable[Facts], number: Quantity) -> bool:
    """Return whether evidence has a number."""
    return any(agrees(number, other) for each in evidence for other in each.numbers)


def _counts_otherwise(
    number: Quantity, counted: frozenset[str], evidence: Iterable[Facts], claim: Facts
) -> bool:
    """Return whether evidence has another number of the same, which the statement does not say."""
    stop = languages.stop_words("en")
    return any(
        (number.unit and other.unit == number.unit) or counted & others - stop
        for each in evidence
        for other, others in zip(each.numbers, each.counted, strict=True)
        if (other.unit == NTH) == (number.unit == NTH)
        and not any(agrees(said, other) for said in claim.numbers)
    )


def missing_names(claim: Facts, evidence: Sequence[Facts]) -> list[str]:
    """Return the names of a statement that the evidence does not have, however they are spelt."""
    said = [word for each in evidence for word in each.words]
    known = set(said)
    gone = [name for name in claim.names if not all(map(_in(known, said), words(name)[:3]))]
    if not gone:
        return []
    # United States may be US there.
    initials = "".join(name[0] for name in claim.names)
    short = {word for word in known if 2 <= len(word) <= SHORT and word in initials}
    return [name for name in gone if not any(name[0] in word for word in short)]


def _in(known: Group[str], said: Sequence[str]) -> Callable[[str], bool]:
    """Return what tells whether a name is among words, or their initials, or spelt a bit otherwise.

    The spelling is tried last: it takes the longest.
    """
    initials = "".join(word[0] for word in said)

    def is_known(name: str) -> bool:
        if name in known or (2 <= len(name) <= SHORT and name in initials):
            return True
        return any(_spelt_alike(name, word) for word in known)

    return is_known


def _spelt_alike(name: str, word: str) -> bool:
    if min(len(name), len(word)) < 4:
        return False
    if name.startswith(word) or word.startswith(name):  # California, Californian
        return True
    if abs(len(name) - len(word)) > 2 or name[0] != word[0]:
        return False
    return SequenceMatcher(None, name, word, autojunk=False).ratio() >= SPELT_ALIKE


def is_denied(claim: Facts, sentence: Facts, *, restated: bool) -> bool:
    """Return whether a statement denies what its evidence says, or the other way round.

    What a statement does not repeat may be denied in a long sentence; so one that denies nothing is
    compared only with what it restates nearly whole.
    """
    if claim.denied and not sentence.denied:
        return True
    if sentence.denied and not claim.denied and restated:
        said = frozenset(claim.words)
        return any(denied <= said for denied in sentence.denied if denied)
    return False
