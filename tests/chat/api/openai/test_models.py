from __future__ import annotations

import openai
import pytest

from chat.models import Assistant, Audience
from tests.chat.api.conftest import Live


def test_assistants_come_first_and_then_what_embeds_the_documents(
    sdk: openai.OpenAI, guide: str
) -> None:
    found = [(model.id, model.object, model.owned_by) for model in sdk.models.list()]
    assert found == [(guide, "model", "ragsite"), ("hash", "model", "ragsite")]


def test_a_model_is_found_by_its_name_and_by_its_slug(sdk: openai.OpenAI, guide: str) -> None:
    by_name, by_slug = sdk.models.retrieve(guide), sdk.models.retrieve("tour-guide")
    assert by_name == by_slug
    assert by_name.created > 1_700_000_000


def test_a_name_may_have_a_slash(sdk: openai.OpenAI, guide: str) -> None:
    assistant = Assistant.objects.create(name="Law / Tax")
    try:
        assert sdk.models.retrieve("Law / Tax").id == "Law / Tax"
    finally:
        assistant.delete()


def test_what_one_may_not_use_does_not_exist(sdk: openai.OpenAI, guide: str) -> None:
    secret = Assistant.objects.create(name="Secret", visibility=Audience.RESTRICTED)
    try:
        assert "Secret" not in [model.id for model in sdk.models.list()]
        with pytest.raises(openai.NotFoundError) as caught:
            sdk.models.retrieve("Secret")
        assert caught.value.code == "model_not_found"
    finally:
        secret.delete()


def test_without_assistants_whoever_answers_is_a_model(sdk: openai.OpenAI, live: Live) -> None:
    kept = list(Assistant.objects.filter(is_default=True))
    Assistant.objects.update(is_default=False)
    assert not [each for each in kept if each.name == "default"]
    messages = [{"role": "user", "content": "How high is the tower?"}]
    answer = sdk.chat.completions.create(model="default", messages=messages)  # type: ignore[call-overload]
    assert answer.model == "default"
    Assistant.objects.filter(pk__in=[each.pk for each in kept]).update(is_default=True)
