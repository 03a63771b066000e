"""Saying whether an answer helped."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Feedback, Run
from tests import conversations

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return conversations.person("ada")


@pytest.fixture
def page(ada: User, client: Client) -> Client:
    """Return a browser in which Ada is signed in."""
    client.force_login(ada)
    return client


@pytest.fixture
def run(ada: User) -> Run:
    return conversations.answered(ada)


@pytest.fixture
def address(run: Run) -> str:
    return reverse("chat:feedback", args=[run.answer_id])


def given() -> tuple[bool, str, str]:
    feedback = Feedback.objects.get()
    return feedback.helpful, feedback.reason, feedback.comment


def test_a_thumb_is_kept_and_more_is_asked_for(page: Client, address: str) -> None:
    html = page.post(address, {"helpful": "no"}).content.decode()
    assert given() == (False, "", "")
    assert "What is wrong with it?" in html


def test_a_reason_and_a_comment_are_kept_and_thanked_for(page: Client, address: str) -> None:
    said = {"helpful": "no", "reason": "incomplete", "comment": " By night?\r\n", "more": "yes"}
    html = page.post(address, said).content.decode()
    assert given() == (False, "incomplete", "By night?")
    assert "Thank you" in html
    assert "It is incomplete" in html


def test_one_may_change_ones_mind(page: Client, address: str) -> None:
    page.post(address, {"helpful": "no", "reason": "wrong"})
    page.post(address, {"helpful": "yes", "reason": "wrong", "comment": "It is right after all."})
    assert given() == (True, "", "It is right after all.")


def test_it_can_be_taken_back(page: Client, address: str) -> None:
    page.post(address, {"helpful": "yes"})
    assert 'aria-pressed="true"' not in page.delete(address).content.decode()
    assert not Feedback.objects.exists()
    assert page.delete(address).status_code == 200


def test_what_was_said_is_there_when_one_comes_back(
    page: Client, address: str, run: Run, ada: User
) -> None:
    Feedback.objects.create(message=run.answer, user=ada, helpful=False, comment="By night?")
    html = page.get(reverse("chat:conversation", args=[run.conversation_id])).content.decode()
    assert "Your comment" in html
    assert "By night?" in page.get(f"{address}?change").content.decode()


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"helpful": "perhaps"},
        {"helpful": "no", "reason": "ugly"},
        {"helpful": "no", "comment": "a" * 2001},
    ],
)
def test_what_makes_no_sense_is_refused(page: Client, address: str, said: dict[str, str]) -> None:
    response = page.post(address, said)
    assert response.status_code == 422
    assert response.content
    assert not Feedback.objects.exists()


def test_only_ones_own_answers_can_be_rated(client: Client, address: str, run: Run) -> None:
    assert client.post(address, {"helpful": "yes"}).status_code == 302
    client.force_login(conversations.person("bob"))
    assert client.post(address, {"helpful": "yes"}).status_code == 404
    client.force_login(run.user)
    question = reverse("chat:feedback", args=[run.question_id])
    assert client.post(question, {"helpful": "yes"}).status_code == 404


def test_who_rates_a_hostile_answer_runs_nothing(page: Client, address: str) -> None:
    page.post(address, {"helpful": "no", "comment": "<script>alert(1)</script>"})
    assert "<script>" not in page.get(f"{address}?change").content.decode()


def test_it_goes_with_the_conversation(page: Client, address: str) -> None:
    page.post(address, {"helpful": "yes"})
    Conversation.objects.get().delete()
    assert not Feedback.objects.exists()
