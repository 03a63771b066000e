"""Asking on the command line."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from chat.models import Assistant, Audience, Conversation, Run
from retrieval.backends.base import BackendError
from retrieval.models import Chunk
from tests.fakes import ScriptedGenerator

QUESTION = "How high is the tower?"


@pytest.fixture
def admin(transactional_db: None) -> User:
    return User.objects.create_superuser("admin")


@pytest.fixture
def ask(admin: User) -> Callable[..., str]:
    """Ask, and return what went to standard output."""

    def run(*arguments: str, **options: Any) -> str:
        out = StringIO()
        call_command("ask", *arguments, stdout=out, stderr=StringIO(), **options)
        return out.getvalue()

    return run


def test_json_prints_the_frames_of_a_real_run(
    ask: Callable[..., str], tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 m high [1]."]
    frames = [json.loads(line) for line in ask(QUESTION, json=True).splitlines()]
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    assert frames[-1]["type"] == "done"
    assert Run.objects.get().answer.text == frames[-1]["answer"]


def test_the_answer_is_printed_with_its_sources(
    ask: Callable[..., str], tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 m high [1]."]
    assert ask(QUESTION) == "It is 96 m high [1].\n[1] The tower, page 3\n"


def test_an_error_frame_is_an_exit_code(
    ask: Callable[..., str], tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = [BackendError("It cannot be reached.", True, code="unreachable")]
    with pytest.raises(SystemExit) as left:
        ask(QUESTION, json=True)
    assert left.value.code == 1


def test_a_conversation_can_be_gone_on_with(
    ask: Callable[..., str], tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 m high [1]."]
    ask(QUESTION)
    ask("Who built the tower?", conversation=Conversation.objects.get().id)
    assert Conversation.objects.get().messages.count() == 4


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([" "], {}, "Please type a question."),
        (["x" * 20_001], {}, "The question is too long: at most 20,000 characters."),
        ([QUESTION], {"user": "nobody"}, "There is no user nobody."),
        ([QUESTION], {"collection": ["Nowhere"]}, "There is no collection “Nowhere”."),
        ([QUESTION], {"assistant": "Nobody"}, "There is no assistant of that name."),
    ],
)
def test_what_cannot_be_asked_is_a_clear_error(
    ask: Callable[..., str],
    generator: ScriptedGenerator,
    arguments: list[str],
    options: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(CommandError, match=message):
        ask(*arguments, **options)
    assert Run.objects.count() == 0


def test_an_assistant_is_asked_with_the_rights_of_the_user(
    ask: Callable[..., str], tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 m high [1]."]
    ada = User.objects.create_user("ada")
    wages = Assistant.objects.create(name="Wages", visibility=Audience.RESTRICTED)
    Assistant.objects.create(name="Open")
    with pytest.raises(CommandError, match="no assistant of that name"):
        ask(QUESTION, assistant="Wages", user="ada")
    wages.users.add(ada)
    ask(QUESTION, assistant="Wages", user="ada")
    assert Conversation.objects.get().assistant == wages


def test_a_warning_is_printed_beside_the_answer(
    admin: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["NOT_IN_DOCUMENTS"]
    Assistant.objects.create(name="Sage", answers_without_sources=True)
    out, beside = StringIO(), StringIO()
    call_command("ask", QUESTION, stdout=out, stderr=beside)
    assert out.getvalue() == "NOT_IN_DOCUMENTS\n"
    assert "Not from your documents" in beside.getvalue()
