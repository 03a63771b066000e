"""What staff see of conversations."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from chat.models import Assistant, Conversation, Feedback, Run, RunState
from retrieval.models import DocumentVersion
from tests import conversations

pytestmark = pytest.mark.django_db
LIST = "/admin/chat/conversation/"


@pytest.fixture
def staff(client: Client) -> Client:
    """Return a browser in which an administrator is signed in."""
    client.force_login(conversations.person("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def ada() -> User:
    return conversations.person("ada")


@pytest.fixture
def run(ada: User) -> Run:
    return conversations.answered(
        ada,
        model="gpt-test",
        timings={"first_token_ms": 412},
        usage={"prompt_tokens": 1834},
    )


def page_of(run: Run) -> str:
    return reverse("admin:chat_conversation_change", args=[run.conversation_id])


def test_the_list_shows_who_asked_how_much_and_how_it_ended(staff: Client, run: Run) -> None:
    version = DocumentVersion.objects.get()
    conversations.answered(
        run.user, "More?", version=version, conversation=run.conversation, state=RunState.FAILED
    )
    html = staff.get(LIST).content.decode()
    assert '<td class="field-user nowrap">ada</td>' in html
    assert '<td class="field-questions">2</td>' in html
    assert '<td class="field-last_state">Failed</td>' in html


def test_the_list_takes_as_many_queries_however_long_it_is(
    staff: Client, ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    version = conversations.document()
    for number in range(10):
        conversations.answered(ada, f"{number}?", version=version)
    with django_assert_max_num_queries(11):
        assert staff.get(LIST).status_code == 200


def test_the_list_is_searched_by_what_was_said(staff: Client, run: Run) -> None:
    assert run.conversation.title in staff.get(f"{LIST}?q=automated").content.decode()
    assert "0 conversations" in staff.get(f"{LIST}?q=submarine").content.decode()


def test_a_conversation_reads_beside_its_evidence(staff: Client, run: Run) -> None:
    html = staff.get(page_of(run)).content.decode()
    assert "How far can the lamp be seen?" in html
    assert "**22 miles** away [1]" in html
    assert "2 citations" in html
    assert "It was automated in 1998, and the last keepers left." in html  # the cited chunk
    assert "3 passages found" in html
    assert ">vector</th>" in html
    assert "0.750" in html
    assert "gpt-test" in html
    assert "412 ms" in html
    assert "1,834" in html


def test_an_error_is_shown_with_its_code(staff: Client, run: Run) -> None:
    Run.objects.update(state=RunState.FAILED, error_code="timeout", error_message="Too slow.")
    html = staff.get(page_of(run)).content.decode()
    assert "timeout" in html
    assert "Too slow." in html


def test_evidence_takes_as_many_queries_however_long_it_is(
    staff: Client, ada: User, run: Run, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    version = DocumentVersion.objects.get()
    for number in range(5):
        conversations.answered(ada, f"{number}?", version=version, conversation=run.conversation)
    with django_assert_max_num_queries(16):
        staff.get(page_of(run))


def test_nothing_said_can_be_changed_or_deleted(staff: Client, run: Run) -> None:
    assert staff.get(f"{LIST}add/").status_code == 403
    assert staff.post(page_of(run), {"title": "Forged"}).status_code == 403
    delete = reverse("admin:chat_conversation_delete", args=[run.conversation_id])
    assert staff.post(delete, {"post": "yes"}).status_code == 403
    assert Conversation.objects.get().title == "How far can the lamp be seen?"


def test_an_unknown_conversation_leads_back_to_the_admin(staff: Client) -> None:
    assert staff.get(f"{LIST}nonsense/change/").status_code == 302


def test_who_is_not_staff_is_kept_out(client: Client, run: Run) -> None:
    client.force_login(run.user)
    assert client.get(page_of(run)).status_code == 302


def test_an_answer_names_the_version_that_gave_it(staff: Client, run: Run) -> None:
    assistant = Assistant.objects.create(name="Archivist")
    Run.objects.update(assistant_version=assistant.record_version(), without_sources=True)
    assistant.delete()
    page = staff.get(page_of(run)).content.decode()
    assert "Archivist, version 1" in page
    assert "without sources" in page


def test_the_list_shows_and_finds_what_people_said_of_answers(staff: Client, run: Run) -> None:
    Feedback.objects.create(message=run.answer, user=run.user, helpful=False, reason="wrong")
    html = staff.get(LIST).content.decode()
    assert '<td class="field-feedback">1 not helpful</td>' in html
    for chosen, found in [
        ("unhelpful", True),
        ("wrong", True),
        ("too_long", False),
        ("none", False),
    ]:
        html = staff.get(LIST, {"feedback": chosen}).content.decode()
        assert (run.conversation.title in html) == found


def test_what_somebody_said_stands_with_the_answer(staff: Client, run: Run) -> None:
    comment = "<b>It is 25 miles.</b>"
    Feedback.objects.create(
        message=run.answer, user=run.user, helpful=False, reason="wrong", comment=comment
    )
    html = staff.get(page_of(run)).content.decode()
    assert "It is wrong" in html
    assert "&lt;b&gt;It is 25 miles." in html
