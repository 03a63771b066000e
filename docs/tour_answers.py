"""What is asked on the tour, and what its provider answers."""

# ruff: noqa: INP001 - a folder of pages

from __future__ import annotations

from dataclasses import dataclass

from chat.answering.prompts import NO_ANSWER


@dataclass(frozen=True)
class Asked:
    """A question and its answer; each `{…}` is the number of the passage that holds those words."""

    question: str
    answer: str
    ends: str = "done"
    """The state of the page at its end. Those that stop are stopped by who asked."""


LEAVE = Asked(
    "How long is parental leave? What may a hotel in Graz cost?",
    """New parents, adoptive parents included, get **16 weeks** of parental leave at full pay \
[{16 weeks}]. It can be divided into as many as three blocks, and must be taken within the \
child's first two years [{16 weeks}].

On a trip a hotel may cost [{€125}]:

| Destination | Hotel per night | Daily allowance |
|---|---:|---:|
| Domestic | €110 | €32 |
| Graz and Austria | €125 | €44 |
| Rest of the world | €160 | €52 |

Before the trip:

1. Let the travel desk book it [{travel desk}].
2. Keep the receipts, and hand them in within 30 days of its end [{30 days}].
""",
)
RATIO = Asked(
    "What is the brew ratio of each drink?",
    """A double espresso takes **18 g** of coffee and gives **36 g** in the cup \
[{18 grams of coffee}]. The brew ratio is

$$r = \\frac{m_\\text{cup}}{m_\\text{coffee}} = \\frac{36\\,\\text{g}}{18\\,\\text{g}} = 2$$

From the table of drinks [{Ristretto}]:

```python
drinks = {"Ristretto": 27, "Espresso": 36, "Lungo": 60}
for name, grams in drinks.items():  # all from 18 g
    print(f"{name}: 1 : {grams / 18:.1f}")
```

| Drink | Coffee | In the cup | Ratio |
|---|---:|---:|---:|
| Ristretto | 18 g | 27 g | 1.5 |
| Espresso | 18 g | 36 g | 2.0 |
| Lungo | 18 g | 60 g | 3.3 |
""",
)
DESCALING = Asked(
    "How long does descaling take, and what with?",
    """Descaling takes 45 minutes and must not be interrupted [{Descaling takes}]. Dissolve \
100 millilitres of MD-5 in one litre of water [{MD-5}].

Never use vinegar: it damages the seals [{vinegar}].
""",
)
HOTEL = Asked(
    "What is the limit for a hotel per night in Graz and Austria?",
    "In Graz and Austria a hotel may cost up to **€125** a night [{€125}]; the daily allowance ",
    ends="stopped",
)
REMOTE = Asked("May I work from home on a Tuesday?", "", ends="stopped")
CARTRIDGE = Asked(
    "Which filter cartridge does the machine need?",
    "Water harder than 8 °dH needs the cartridge ",
    ends="failed",
)
NOBODY = Asked("Do I get a day off when my grandchild is born?", NO_ANSWER)
ARABIC = Asked(
    "كم أسبوعًا من الإجازة يحصل عليه الوالدان الجديدان؟",
    """يحصل كل والد جديد، بما في ذلك الوالدان بالتبني، على **16 أسبوعًا** من الإجازة بأجر كامل \
[{16 weeks}].

- يمكن تقسيمها إلى ثلاث فترات على الأكثر [{16 weeks}].
- يجب أخذها خلال السنتين الأوليين من عمر الطفل.
""",
)
ALL = [LEAVE, RATIO, DESCALING, HOTEL, REMOTE, CARTRIDGE, NOBODY, ARABIC]
