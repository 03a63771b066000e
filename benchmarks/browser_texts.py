"""The answers that are drawn: what is hard to draw while it grows, each of some 5,000 tokens."""

from __future__ import annotations

import itertools
import re

TOKENS = 5000
LONG_WORDS = 20_000
SAYING = (
    "Report *{n}* shows that **revenue** grew {n} % because supply contracts were renewed early "
    "and the new plant reached full output before winter, so margins improved [{source}]. "
)
ARABIC = (
    "يوضح التقرير *{n}* أن **الإيرادات** نمت بنسبة {n} ٪ لأن عقود التوريد جددت مبكرا "
    "وبلغ المصنع الجديد كامل طاقته قبل الشتاء فتحسنت الهوامش [{source}]. "
)


def say(number: int, saying: str = SAYING) -> str:
    """Return a sentence that cites."""
    return saying.format(n=number, source=number % 3 + 1)


def paragraphs(number: int) -> str:
    """Return a paragraph of five sentences, now and then below a heading."""
    heading = "" if number % 4 else f"## Part {number}\n\n"
    return heading + "".join(say(number * 5 + each) for each in range(5)).rstrip() + "\n\n"


def right_to_left(number: int) -> str:
    """Return a paragraph in Arabic, and a short list."""
    items = "".join(f"- {say(each, ARABIC)}\n" for each in range(2))
    text = "".join(say(number * 5 + each, ARABIC) for each in range(4))
    return f"{text.rstrip()}\n\n{items}\n"


def nested_lists(number: int) -> str:
    """Return items in items, six deep, of one list that goes on to the end."""
    levels = [0, 1, 2, 3, 4, 5, 3, 1]
    return "".join(f"{'    ' * level}- {say(number * 8 + level)}\n" for level in levels)


def table(number: int) -> str:
    """Return a row, the first below the head."""
    head = "| report | what it shows | grew by |\n|---|---|--:|\n" if number == 0 else ""
    return head + f"| row {number} | revenue of the **region** {number} [1] | {number} % |\n"


def code(number: int) -> str:
    """Return a function of four lines; all of them are one block of 2,000 lines."""
    opening = "```python\n" if number == 0 else ""
    return opening + f'def f{number}(x):\n    "Add {number}."\n    return x + {number}  # so\n\n'


def maths(number: int) -> str:
    """Return a paragraph with formulas, and one of its own."""
    return (
        f"Let $x_{{{number}}} = \\frac{{a^2 + {number}}}{{\\sqrt{{b}}}}$ be given, with "
        f"\\(\\alpha_{number} \\leq \\sum_{{i=1}}^{{n}} i^{number}\\) and a sum of $5 and $10 "
        f"for it [1]. Then\n\n$$\n\\int_0^{number} e^{{-x^2}}\\,dx = \\frac{{\\pi}}{{{number + 1}}}"
        f"\n$$\n\nholds for each of them, and so does its inverse.\n\n"
    )


def mixed(number: int) -> str:
    """Return something of everything."""
    kinds = [paragraphs(number)] * 5
    kinds.append("".join(f"- {say(each)}\n" for each in range(5)) + "\n")
    kinds.append("".join(table(each) for each in range(12)) + "\n")
    kinds.append("".join(code(each) for each in range(6)) + "```\n\n")
    kinds.append(maths(number))
    return kinds[number % len(kinds)]


KINDS = {
    "paragraphs": paragraphs,
    "nested lists": nested_lists,
    "a table": table,
    "code": code,
    "maths": maths,
    "right to left": right_to_left,
}
LONG = "twenty thousand words"


def pieces(kind: str) -> list[str]:
    """Return the tokens of a kind of answer: words with the white space behind them."""
    make, most = (mixed, LONG_WORDS) if kind == LONG else (KINDS[kind], TOKENS)
    parts: list[str] = []
    for number in itertools.count():
        parts += re.findall(r"\S+\s*|\s+", make(number))
        if len(parts) >= most:
            return parts
    raise AssertionError  # never reached: the numbers have no end
