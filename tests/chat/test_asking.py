"""What a question may change of its assistant's search."""

from typing import Any
from uuid import uuid4

import pytest

from chat.asking import AskedAssistant, search_settings

HANDBOOK = {"metadata.kind": "handbook"}


def filters(own: dict[str, Any], asked: dict[str, Any] | None) -> Any:
    settings = search_settings(AskedAssistant(id=uuid4(), search_settings=own), asked)
    return settings.model_dump(mode="json")["filters"]


@pytest.mark.parametrize("asked", [None, {}, {"limit": 3}, {"filters": None}, {"filters": {}}])
def test_an_assistant_s_filter_holds(asked: dict[str, Any] | None) -> None:
    assert filters({"filters": HANDBOOK}, asked) == filters({}, {"filters": HANDBOOK})


def test_a_question_s_filter_is_joined_to_its_assistant_s() -> None:
    found = filters({"filters": HANDBOOK}, {"filters": {"language": "de"}})
    assert found == {"$and": [filters({"filters": HANDBOOK}, None), {"language": {"$eq": "de"}}]}


def test_a_question_s_filter_holds_by_itself() -> None:
    assert filters({}, {"filters": {"language": "de"}}) == {"language": {"$eq": "de"}}
