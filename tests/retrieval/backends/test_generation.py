"""How a generator may be told to write, and what is said of what it cannot be told."""

from __future__ import annotations

import pytest

from retrieval.backends.generation import GenerationSettings, GenerationSettingsError


def test_what_is_not_set_is_left_to_the_provider() -> None:
    assert GenerationSettings.parse({}).given() == {}


def test_nothing_by_chance_is_set() -> None:
    settings = {"temperature": 0, "seed": 0, "presence_penalty": 0.0}
    assert GenerationSettings.parse(settings).given() == settings


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": "0.5"}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"frequency_penalty": -3}, "frequency_penalty"),
        ({"presence_penalty": 3}, "presence_penalty"),
        ({"seed": -1}, "seed"),
        ({"nope": 1}, "nope"),
        ([], ""),
    ],
)
def test_what_no_generator_could_use_is_refused_by_name(settings: object, field: str) -> None:
    with pytest.raises(GenerationSettingsError) as refused:
        GenerationSettings.parse(settings)
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: " if field else "Input")
