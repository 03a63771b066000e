"""R2R's generation config as ours."""

import pytest

from chat.api.r2r.generation import known, translated
from retrieval.backends.generation import GenerationSettings, GenerationSettingsError
from tests.chat.api.r2r import sdk


def test_whole_configs_are_understood() -> None:
    """What the SDK says without being asked to, too."""
    config = sdk.GenerationConfig(model="gpt-x", temperature=0.5, max_tokens=20, stream=True)
    wanted = translated(config.model_dump(mode="json"))
    settings = GenerationSettings.parse(wanted.settings)
    assert settings.given() == {"temperature": 0.5, "top_p": 1.0, "max_tokens": 20}
    assert (wanted.model, wanted.stream) == ("gpt-x", True)


def test_nothing_said_is_left_to_the_assistant() -> None:
    for given in (None, {}, {"temperature": None, "stream": None}):
        wanted = translated(given)
        assert (wanted.settings, wanted.model, wanted.stream) == ({}, None, False)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("hot", "rag_generation_config"),
        ({"temperature": 9}, "temperature"),
        ({"max_tokens_to_sample": 0}, "max_tokens"),
        ({"tools": [{"name": "search"}]}, "tools"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
    ],
)
def test_wrong_settings_are_named(given: object, field: str) -> None:
    with pytest.raises(GenerationSettingsError) as refused:
        GenerationSettings.parse(translated(given).settings)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        (None, None),
        ("gpt-x", "gpt-x"),
        ("openai/gpt-x", "gpt-x"),
        ("vendor/large", "vendor/large"),
        ("openai/gpt-4.1", None),
        ("", None),
    ],
)
def test_unknown_models_mean_the_default(model: str | None, meant: str | None) -> None:
    assert known(model, ["gpt-x", "vendor/large"]) == meant
