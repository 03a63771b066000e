"""How the fake provider answers in a soak, as a model's name tells it, and what must come of it."""

from __future__ import annotations

import importlib

# The name, the code of the error the run ends with unless it is stopped, and how often it is asked.
MODELS: list[tuple[str, str, int]] = [
    ("fake-n20-d5-f50", "", 4),
    ("fake-n60-d20-f100", "", 5),
    ("fake-n60-d20-f100-c25", "", 5),
    ("fake-n150-d20-f100", "", 5),
    ("fake-n400-d10-f50", "", 4),
    ("fake-n2000-d0-f50", "", 1),
    ("fake-429x2-n20-d5-f50", "", 1),
    ("fake-503x1-n60-d10-f50", "", 1),
    ("fake-n100-d10-f50-drop50", "dropped", 2),
    ("fake-n100-d10-f50-bad50", "malformed", 1),
    ("fake-500", "provider_error", 1),
]
# Answers that take a few seconds, to be stopped; and one that outlasts the grace period.
LONG = ["fake-n150-d20-f100", "fake-n400-d10-f50"]
LONGEST = "fake-n1500-d20-f100"
ENDINGS = {LONGEST: ""} | {model: ending for model, ending, _ in MODELS}


def numbered(model: str, number: int) -> str:
    """Return a name of a model that only one question uses, so that its requests can be told."""
    return f"{model}-u{number}"  # the provider looks past a part it does not know


def plain(name: str) -> str:
    """Return the model of a name that `numbered` made."""
    return name.rsplit("-u", 1)[0]


def words(model: str) -> list[str]:
    """Return what the provider writes."""
    fake = importlib.import_module("fake_llm")
    behaviour = fake.parse_model(model, {"cite_every": 0, "ground": False})
    made: list[str] = fake.make_words(behaviour, [])
    return made
