"""Which language a text is in, and what is known of that language: its stemmer, its stop words."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import islice
from pathlib import Path

import Stemmer

from retrieval.text.folding import fold

# Enough to tell the script of a text.
SCRIPT_LETTERS = 100

# Snowball's algorithms by ISO 639-1 code; a language that is not here is searched unstemmed.
STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
# What the detector calls languages (ISO 639-3), where it is not the first two letters.
ISO_639_1 = {
    "ara": "ar", "ben": "bn", "bul": "bg", "cat": "ca", "ces": "cs", "cmn": "zh", "zho": "zh",
    "dan": "da", "deu": "de", "ell": "el", "eng": "en", "epo": "eo", "est": "et", "fin": "fi",
    "fra": "fr", "guj": "gu", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy",
    "ind": "id", "ita": "it", "jpn": "ja", "kan": "kn", "kat": "ka", "khm": "km", "kor": "ko",
    "lat": "la", "lav": "lv", "lit": "lt", "mal": "ml", "mar": "mr", "mkd": "mk", "mya": "my",
    "nep": "ne", "nld": "nl", "nob": "no", "ori": "or", "pan": "pa", "pes": "fa", "pol": "pl",
    "por": "pt", "ron": "ro", "rus": "ru", "sin": "si", "slk": "sk", "slv": "sl", "spa": "es",
    "srp": "sr", "swe": "sv", "tam": "ta", "tel": "te", "tha": "th", "tur": "tr", "ukr": "uk",
    "urd": "ur", "vie": "vi", "yid": "yi",
}  # fmt: skip


def normalise(code: str) -> str:
    """Return a language code such as `deu`, `de-CH` or `DE` as ISO 639-1, or "" if unknown."""
    base = code.strip().lower().replace("_", "-").split("-")[0]
    return base if len(base) == 2 else ISO_639_1.get(base, "")


def guess(words: Iterable[str]) -> str:
    """Return the language of a question by its stop words, or "" if no language has most of them.

    Detectors need a sentence or two; a question's little words tell more.
    """
    distinct = set(words)
    counts = Counter({code: len(distinct & stop_words(code)) for code in _with_stop_words()})
    (best, most), (_, second) = counts.most_common(2)
    return best if most > second else ""


def script(text: str) -> str:
    """Return the script of most letters at the beginning of a text: LATIN, ARABIC, CJK …, or ""."""
    letters = islice(filter(str.isalpha, text), SCRIPT_LETTERS)
    counts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    name = max(counts, key=counts.__getitem__, default="")
    return "CJK" if name in ("HIRAGANA", "KATAKANA") else name


@cache
def stop_words(code: str) -> frozenset[str]:
    """Return the words of a language that say little (Snowball's lists), folded."""
    if code not in _with_stop_words():
        return frozenset()
    path = Path(__file__).parent / "stopwords" / f"{code}.txt"
    return frozenset(fold(path.read_text(encoding="utf-8")).split())


@cache
def _with_stop_words() -> frozenset[str]:
    return frozenset(path.stem for path in (Path(__file__).parent / "stopwords").glob("*.txt"))


def stem(words: Iterable[str], code: str) -> list[str]:
    """Return the stems of lower-case words, or the words where the language has no stemmer."""
    if code not in STEMMERS:
        return list(words)
    # A stemmer keeps state and is not safe to share between threads; making one is cheap.
    stems: list[str] = Stemmer.Stemmer(STEMMERS[code], 0).stemWords(list(words))
    return stems
