"""Terms: what a text is searched by. Documents and questions are taken apart the same way."""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate, pairwise

from retrieval.text import compounds
from retrieval.text import language as languages
from retrieval.text.folding import fold

TERM_MAX_CHARS = 64
# Codes are shorter than addresses of the web, which have letters and digits, too.
CODE_MAX_CHARS = 32

# Combining marks are part of a word (the vowels of Devanagari, say), but not of `\w`.
_marks = "".join(
    chr(point) for point in range(0x300, 0x3100) if unicodedata.category(chr(point))[0] == "M"
)
_word = rf"(?:[^\W_]|[{_marks}])+"
# Parts of a name, number or address that belong together: AB-1234, 1.2.3, user@example.com, C++.
_token = re.compile(rf"{_word}(?:[-‐‑._@/:+&]{_word})*(?:\+\+|#(?!\w))?")
_part = re.compile(_word)
# Scripts written without spaces: Han, kana, Thai, Lao, Myanmar, Khmer; and Hangul, whose words have
# particles written on to them.
_unspaced = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uac00-\ud7a3\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff]+"
)
# it's, don't, the city's: what follows the apostrophe says nothing.
_clitic = re.compile(r"(?<=\w)['’](?:s|t|ll|re|ve|d|m)\b")
_hyphens = re.compile("[-‐‑]")
# What may stand within a code, or not: between digits dots and slashes are part of the number.
_joint = re.compile(r"[-‐‑_]|(?<!\d)[./]|[./](?!\d)")
_mixed = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w./]+")


def words(text: str) -> list[str]:
    """Return the folded words of a text in order, identifiers whole and in parts.

    A run of a script written without spaces is returned as one word.
    """
    return _words_of(_pieces(text))


def _words_of(pieces: list[str]) -> list[str]:
    found: list[str] = []
    for piece in pieces:
        if _unspaced.match(piece):
            found += _part.findall(piece)
            continue
        if piece.isalnum():
            found.append(piece[:TERM_MAX_CHARS])
            continue
        parts = _part.findall(piece)
        # E-mail is email, AB-1234 is AB1234; dots and slashes stay: 1.2.3 is not 123.
        whole = _hyphens.sub("", piece)
        found += [part[:TERM_MAX_CHARS] for part in dict.fromkeys([*parts, whole])]
    return found


def rows_of_phrase(text: str) -> list[list[str]]:
    """Return the words of a text in the ways in which documents may have them in a row.

    A code at its end may be what a longer one begins with: AB-1234/C. One that is all there is may
    be written otherwise: AB1234.
    """
    pieces = _pieces(text)
    found = _words_of(pieces)
    codes = _codes_of(pieces[-1]) if pieces else []
    if not codes:
        return [found]
    parts = _part.findall(pieces[-1])
    rows = [found[:-1] if len(parts) == len(set(parts)) else found]
    return rows if len(pieces) > 1 else [*rows, codes[-1:]]


def units(text: str) -> list[str]:
    """Return the folded words of a text, and each character of a script without spaces."""
    return [unit for word in words(text) for unit in (word if _unspaced.match(word) else (word,))]


def is_unspaced(word: str) -> bool:
    """Return whether a word is a run of a script written without spaces."""
    return _unspaced.match(word) is not None


def index_terms(text: str, language: str) -> list[str]:
    """Return what a document's text is found by: stems, and characters in ones and twos.

    Behind them are those of codes, and of the parts of compounds in languages that write them as
    one word.
    """
    pieces = _pieces(text)
    found = _words_of(pieces)
    more = _codes_beside(found, pieces)
    if language in compounds.LANGUAGES:
        more += [part for word in found for part in compounds.parts(word)]
    return stems(found + more, language, singles=True)


def query_terms(text: str, language: str) -> list[str]:
    """Return what a question searches for, stop words left out unless there is nothing else.

    In scripts written without spaces these are pairs of characters, or a single one.
    """
    pieces = _pieces(text)
    found = _words_of(pieces)
    said = content(found, languages.guess(found))
    return stems(said + _codes_beside(found, pieces), language, singles=False)


def content(found: list[str], language: str) -> list[str]:
    """Return the words that are no stop words of a language; all of them if none are left."""
    stop = languages.stop_words(language)
    return [word for word in found if word not in stop] or found


def stems(found: list[str], language: str, *, singles: bool) -> list[str]:
    """Return the stems of words; of unspaced script its pairs of characters.

    With `singles` its characters too.
    """
    terms: list[str] = []
    for word, stem in zip(found, languages.stem(found, language), strict=True):
        if _unspaced.match(word):
            pairs = [a + b for a, b in pairwise(word)]
            terms += [*word, *pairs] if singles else pairs or [word]
        else:
            terms.append(stem)
    return terms


def _pieces(text: str) -> list[str]:
    """Return the words and identifiers of a text, folded, each of one script."""
    tokens = _token.findall(_clitic.sub("", fold(text)))
    return [piece for token in tokens for piece in _split_scripts(token)]


def _codes_beside(found: list[str], pieces: list[str]) -> list[str]:
    """Return the codes among `pieces` that are not among their words."""
    mixed = (piece for piece in pieces if not piece.isalnum())
    codes = dict.fromkeys(code for piece in mixed for code in _codes_of(piece))
    known = set(found) if codes else ()
    return [code for code in codes if code not in known]


def _codes_of(piece: str) -> list[str]:
    """Return a word of letters and digits without what stands between, and its beginnings before.

    These are ab1234 and ab1234c for AB-1234/C; nothing for a word that has nothing in it.
    """
    parts = _joint.split(piece)
    if len(parts) == 1:
        return []
    _, *longer = accumulate(parts)
    return [code for code in longer if len(code) <= CODE_MAX_CHARS and _mixed.fullmatch(code)]


def _split_scripts(token: str) -> list[str]:
    """Part what is written without spaces from the words and numbers it is written next to."""
    if not _unspaced.search(token):
        return [token]
    pieces: list[str] = []
    end = 0
    for run in _unspaced.finditer(token):
        pieces += [token[end : run.start()], run.group()]
        end = run.end()
    return [piece for piece in [*pieces, token[end:]] if _part.search(piece)]
