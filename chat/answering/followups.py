"""Whether a question goes on with the ones before it, and what it then takes over from them.

Pure functions of words, for any language: nothing here asks a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from itertools import pairwise

from chat.answering import cues
from retrieval.text import language as languages
from retrieval.text.folding import fold
from retrieval.text.terms import words

# A term is taken over into a question that says something of its own if it is at least this
# rare, compared with the rarest.
RARE = 0.5
SHORT_UNSPACED = 5

_year = re.compile(r"(?:1[5-9]|20)\d\d")
_unspaced = re.compile("[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff]")
_piece = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\d\s]+")


class Kind(Enum):
    """How a question stands to those before it."""

    STANDS = auto()
    FOLLOWS = auto()
    UNSURE = auto()


def kind_of(text: str, earlier: Sequence[str]) -> Kind:  # noqa: PLR0911 - one for each rule
    """Return whether a question stands by itself, as far as its words tell."""
    if not earlier:
        return Kind.STANDS
    if _unspaced.search(text):
        return _kind_of_unspaced(text)
    found = words(text)
    language = language_of(text, earlier)
    line = " ".join(found)
    refers = references_of(language).search(line)
    said = content(text, language)
    if not said or (len(found) <= 3 and any(map(_year.fullmatch, said))):
        return Kind.FOLLOWS
    named = any(is_name(token, language) for token in tokens(text)[1:])
    if opener := openers_of(language).match(line):
        # Behind "what about" there is no question of its own, however much is said.
        elliptic = " " in opener[0]
        return Kind.FOLLOWS if elliptic or len(said) <= 3 else Kind.UNSURE
    if refers:
        # What stands in front of all that is said cannot refer to any of it.
        in_front = not content(line[: refers.start()], language)
        few = len(said) <= (4 if in_front else 3) and (in_front or not named)
        return Kind.FOLLOWS if few else Kind.UNSURE
    if named or len(said) > 2:
        return Kind.STANDS
    return Kind.FOLLOWS if len(said) < len(found) <= 2 else Kind.UNSURE


def _kind_of_unspaced(text: str) -> Kind:
    letters = "".join(
        character for character in text if unicodedata.category(character)[0] in "LNM"
    )
    if letters.startswith(cues.UNSPACED_OPENERS) or letters.endswith(cues.UNSPACED_ENDS):
        return Kind.FOLLOWS if len(letters) <= 4 * SHORT_UNSPACED else Kind.UNSURE
    if len(letters) <= SHORT_UNSPACED:
        return Kind.FOLLOWS
    refers = any(reference in letters for reference in cues.UNSPACED_REFERENCES)
    return Kind.UNSURE if refers else Kind.STANDS


def carry(text: str, earlier: str, weight: Callable[[str], float]) -> str:
    """Return a question that goes on with `earlier`, with what it leaves out.

    What only names something else of the same kind (a year, a number, a name) takes its place in
    the earlier question: "and in 2020?" Otherwise the earlier question's content words that it
    lacks stand in front of it; of those only the rare ones, by `weight`, where it says something
    itself and refers to a thing.
    """
    language = language_of(text, [earlier])
    own = content(text, language)
    replaced = replacements(text, earlier, language)
    if own and len(replaced) == len(own):
        return replace_tokens(earlier, replaced)
    lacking = [
        token
        for token in content(earlier, language)
        if token not in replaced and token.casefold() not in {each.casefold() for each in own}
    ]
    if own and not openers_of(language).match(" ".join(words(text))):
        least = RARE * max(map(weight, lacking), default=0.0)
        lacking = [token for token in lacking if weight(token) >= least]
    return f"{' '.join(dict.fromkeys(lacking))}: {text}" if lacking else text


def replacements(text: str, earlier: str, language: str) -> dict[str, str]:
    """Return what of the earlier question is named anew, and what by."""
    old = content(earlier, language)
    old_names, new_names = names(earlier, language), names(text, language)
    # The last: "the tower of Lund", "sales in France".
    last = [token for token in old_names if token in old and token not in tokens(earlier)[:1]][-1:]
    found: dict[str, str] = {}
    for token in content(text, language):
        if shape(token):
            alike = [each for each in old if shape(each) == shape(token)]
        else:
            alike = [each for each in last if old_names[each] == new_names.get(token)]
        if alike and alike[-1] not in found:
            found[alike[-1]] = token
    return found


def names(text: str, language: str) -> dict[str, str]:
    """Return the names in a text; where all nouns have capitals, with the word before each.

    Of these only one behind the same preposition can take another's place: "in Lund", "in Malmö".
    """
    found: dict[str, str] = {}
    prepositions = cues.PREPOSITIONS.get(language)
    for before, token in pairwise(["", *tokens(text)]):
        if shape(token) or not is_name(token, language):
            continue
        if prepositions is None:
            found[token] = ""
        elif fold(before) in prepositions.split("|"):
            found[token] = fold(before)
    return found


def shape(token: str) -> str:
    """Return what kind of number, date or code a token is; "" for a word."""
    if not any(character.isdigit() for character in token):
        return ""
    if _year.fullmatch(token):
        return "year"
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", token))


def content(text: str, language: str) -> list[str]:
    """Return the tokens that say something, as they are written."""
    stop = languages.stop_words(language)
    openers = openers_of(language)
    references = references_of(language)
    return [
        token
        for token in tokens(text)
        if not (_unspaced.match(token) and len(token) <= 2)
        and any(
            word not in stop and not references.fullmatch(word) and not openers.fullmatch(word)
            for word in words(token)
        )
    ]


def tokens(text: str) -> list[str]:
    """Return the words of a text as they are written; numbers apart from unspaced script."""
    found = []
    for piece in text.split():
        parts = _piece.findall(piece) if _unspaced.search(piece) else [piece]
        found += [stripped for part in parts if (stripped := strip(part))]
    return found


def replace_tokens(text: str, new: Mapping[str, str]) -> str:
    """Return a text with other words for some of its `tokens`, and all that is around them."""

    def replace(part: str) -> str:
        token = strip(part)
        return part.replace(token, new[token]) if token in new else part

    def replace_in(piece: re.Match[str]) -> str:
        if _unspaced.search(piece[0]):
            return _piece.sub(lambda part: replace(part[0]), piece[0])
        return replace(piece[0])

    return re.sub(r"\S+", replace_in, text)


def strip(token: str) -> str:
    """Return a token without the punctuation around it."""
    start, end = 0, len(token)
    while start < end and unicodedata.category(token[start])[0] in "PSZ":
        start += 1
    while (
        end > start and unicodedata.category(token[end - 1])[0] in "PSZ" and token[end - 1] != "+"
    ):
        end -= 1
    return token[start:end]


def is_name(token: str, language: str) -> bool:
    """Whether a word that is not the first looks like a name or a code."""
    if any(map(str.isdigit, token)) and any(map(str.isalpha, token)):
        return True
    return len(token) > 1 and token[0].isupper() and content_word(token, language)


def content_word(token: str, language: str) -> bool:
    """Whether a token is no stop word."""
    stop = languages.stop_words(language)
    return any(word not in stop for word in words(token))


def language_of(text: str, earlier: Sequence[str]) -> str:
    """Return a question's language, or that of those before it: a few words tell little."""
    guessed = languages.guess(words(" ".join([*earlier[-2:], text])))
    return guessed or languages.guess(words(text))


@cache
def openers_of(language: str) -> re.Pattern[str]:
    """Return what matches an opener at the beginning; of all languages where it is not known."""
    return _any_of(cues.OPENERS, language)


@cache
def references_of(language: str) -> re.Pattern[str]:
    """Return what matches a word that refers; of all languages where it is not known."""
    return _any_of(cues.REFERENCES, language)


def _any_of(listed: Mapping[str, str], language: str) -> re.Pattern[str]:
    phrases = [listed[language]] if language in listed else listed.values()
    return re.compile(rf"(?<!\S)(?:{'|'.join(phrases)})(?!\S)")
