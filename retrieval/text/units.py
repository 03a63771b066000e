"""What numbers are multiplied by, and what they count: million, %, km, in several languages."""

from __future__ import annotations

import re
from functools import cache

from retrieval.text.folding import fold

SCALES = {
    **dict.fromkeys(("thousand", "k", "tsd", "tausend", "тыс", "الف", "千"), 1e3),
    **dict.fromkeys(("mio", "mn", "млн", "миллион", "миллиона", "миллионов", "مليون"), 1e6),
    **dict.fromkeys(("ملايين", "million", "millions"), 1e6),
    **dict.fromkeys(("mrd", "bn", "млрд", "миллиард", "مليار", "billion"), 1e9),
    **dict.fromkeys(("万", "萬"), 1e4),
    **dict.fromkeys(("亿", "億"), 1e8),
}
UNITS = {
    alias: unit
    for unit, aliases in {
        "%": "% ％ ٪ percent per-cent prozent pourcent porciento percento procent процентов",
        "°c": "°c ℃ celsius",
        "°f": "°f ℉ fahrenheit",
        "mm": "mm millimeter millimetre millimeters millimetres millimetros 毫米",
        "cm": "cm centimeter centimetre centimeters centimetres zentimeter centimetros 厘米",
        "m": "m meter metre meters metres metern metros metri 米",
        "km": "km kilometer kilometre kilometers kilometres kilometern kilometros 公里 千米",
        "in": "inch inches zoll pulgadas 英寸",
        "ft": "ft foot feet fuss pies 英尺",
        "mi": "mile miles mi meile meilen milla millas 英里",
        "g": "g gram grams gramm gramos 克",
        "kg": "kg kilogram kilograms kilo kilos kilogramm kilogramos 公斤 千克",
        "t": "tonne tonnes tonnen toneladas 吨",
        "l": "l liter litre liters litres litern litros 升",
        "ms": "ms millisecond milliseconds millisekunden milisegundos 毫秒",
        "s": "s sec secs second seconds sekunde sekunden segundo segundos seconde secondes 秒",
        "min": "min minute minutes minuten minutos 分钟",
        "h": "h hour hours stunde stunden hora horas heure heures 小时",
        "day": "day days tag tage tagen dia dias jour jours 天",
        "week": "week weeks woche wochen semana semanas semaine semaines 周",
        "month": "month months monat monate monaten mes meses mois 个月",
        "year": "year years jahr jahre jahren ano anos ans annee annees",
        "w": "w watt watts",
        "kw": "kw kilowatt kilowatts",
        "mw": "mw megawatt megawatts",
        "mb": "mb megabyte megabytes",
        "gb": "gb gigabyte gigabytes",
        "usd": "$ us$ usd dollar dollars dolares 美元",
        "eur": "€ eur euro euros 欧元",
        "gbp": "£ gbp",
        "jpy": "¥ jpy yen 日元",
    }.items()
    for alias in aliases.split()
}

_scale_word = re.compile(r"[\s\u00a0-]?([^\W\d_]+)\.?")
_unit = re.compile(
    r"[\s\u00a0-]?(per cent|por ciento|pour cent|%|％|٪|°\s?[CF]|[℃℉€$£¥]|[^\W\d_]+)",
    re.IGNORECASE,
)
_word = re.compile(r"[\s\u00a0-][^\W\d_]+")
_currency = re.compile(r"(US\$|[$€£¥])\s?$")


def scale_behind(text: str, end: int) -> tuple[float, int] | None:
    """Return what a number is multiplied by, and where the word for that ends."""
    if (han := text[end : end + 1]) in SCALES:
        return SCALES[han], end + 1
    word = _scale_word.match(text, end)
    if word is None:
        return None
    factor = _scales().get(fold(word[1]))
    return (factor, word.end(1)) if factor else None


@cache
def _scales() -> dict[str, float]:
    more = {
        1e3: "thousand mil mille duizend",
        1e6: "millionen million millones millon milioni milione miljoen milhoes milhao",
        1e9: "milliarden milliarde milliards milliard miliardi miliardo miljard bilhoes billions",
    }
    return SCALES | {word: factor for factor, words in more.items() for word in words.split()}


def unit_behind(text: str, end: int) -> str:
    """Return the unit behind a number, "" if there is none that is known."""
    found = _unit.match(text, end)
    if found is None:
        return ""
    word = fold(found[1]).replace(" ", "")
    if "\u4e00" <= word[0] <= "\u9fff":
        return next((UNITS[word[:n]] for n in (2, 1) if word[:n] in UNITS), "")
    return UNITS.get(word, "")


def unit_further_on(text: str, end: int) -> str:
    """Return the unit behind the word that follows a number (5 unused days), or ""."""
    word = _word.match(text, end)
    return unit_behind(text, word.end()) if word else ""


def unit_before(text: str, start: int) -> str:
    """Return the currency whose sign stands before a number, or ""."""
    found = _currency.search(text, max(0, start - 5), start)
    return UNITS[found[1].lower()] if found else ""
