"""The pages and partials of the chat, as the browser gets them."""

from __future__ import annotations

import gzip
import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from chat.models import Assistant, Candidate, Citation, Conversation, Run, RunState
from retrieval import backends
from retrieval.models import Collection, Document, DocumentVersion, Stage, Visibility
from tests import conversations
from tests.chat.pages import text_of
from tests.fakes import ScriptedGenerator

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fakes_configured")]


def addresses(run: Run) -> list[str]:
    """Return every address that shows something of a run."""
    conversation, answer = run.conversation_id, run.answer_id
    return [
        reverse("chat:conversation", args=[conversation]),
        reverse("chat:rename", args=[conversation]),
        reverse("chat:message", args=[answer]),
        reverse("chat:message", args=[run.question_id]),
        reverse("chat:sources", args=[answer]),
        reverse("chat:source", args=[answer, 1]),
        reverse("chat:citation", args=[answer, 0]),
    ]


def test_who_is_not_signed_in_is_sent_to_sign_in(client: Client, run: Run) -> None:
    for address in ["/", "/sidebar/", "/documents/status/", *addresses(run)]:
        response = client.get(address)
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/accounts/login/?next=/")


@pytest.mark.parametrize(
    ("page", "back"),
    [("http://testserver/c/x/?a=1", "/c/x/%3Fa%3D1"), ("http://elsewhere/c/x/", "/"), ("", "/")],
)
def test_a_request_of_htmx_without_a_session_moves_the_whole_page_to_sign_in_and_back(
    client: Client, page: str, back: str
) -> None:
    response = client.get("/sidebar/", headers={"HX-Request": "true", "HX-Current-URL": page})
    assert response.headers["HX-Redirect"] == f"/accounts/login/?next={back}"


def test_conversations_of_others_do_not_exist(client: Client, run: Run) -> None:
    client.force_login(conversations.person("bob", is_staff=True, is_superuser=True))
    for address in addresses(run):
        assert client.get(address).status_code == 404
    assert client.post(reverse("chat:delete", args=[run.conversation_id])).status_code == 404
    assert Conversation.objects.filter(pk=run.conversation_id).exists()


def test_an_unknown_conversation_is_not_found(page: Client) -> None:
    assert page.get(reverse("chat:conversation", args=[uuid4()])).status_code == 404


def test_a_conversation_holds_its_text_and_citations_for_the_renderer(
    page: Client, run: Run
) -> None:
    html = text_of(page, reverse("chat:conversation", args=[run.conversation_id]))
    assert "How far can the lamp be seen?" in html
    assert "**22 miles** away [1]" in html
    assert '"span": [44, 47]' in html
    assert 'data-state="done"' in html


def test_an_answer_from_what_the_model_knows_says_so(page: Client, run: Run) -> None:
    address = reverse("chat:message", args=[run.answer_id])
    assert "Not from your documents" not in text_of(page, address)
    Run.objects.update(without_sources=True)
    assert "Not from your documents" in text_of(page, address)


def test_showing_a_conversation_takes_as_many_queries_however_long_it_is(
    page: Client, ada: User, run: Run, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    version = DocumentVersion.objects.get()
    for number in range(5):
        conversations.answered(
            ada, f"And {number}?", version=version, conversation=run.conversation
        )
    with django_assert_max_num_queries(18):
        text_of(page, reverse("chat:conversation", args=[run.conversation_id]))


def test_text_of_people_and_models_is_escaped(page: Client, ada: User) -> None:
    hostile = '<img src=x onerror="alert(1)"></script>'
    run = conversations.answered(ada, question=hostile, answer=f"{hostile} [1]")
    Citation.objects.update(quote=hostile, title=hostile)
    Candidate.objects.update(title=hostile)
    for address in addresses(run):
        assert "<img" not in text_of(page, address)


def test_a_run_in_progress_is_followed_from_its_beginning(page: Client, ada: User) -> None:
    run = conversations.answered(ada, answer="So far", state=RunState.RUNNING, finish_reason="")
    html = text_of(page, reverse("chat:conversation", args=[run.conversation_id]))
    assert f'data-run="{run.pk}"' in html
    assert 'data-state="searching"' in html
    assert "So far" not in html


@pytest.mark.parametrize(
    ("fields", "state", "says"),
    [
        ({"state": RunState.CANCELLED}, "cancelled", "Stopped."),
        ({"state": RunState.INTERRUPTED}, "interrupted", "Interrupted"),
        ({"finish_reason": "length"}, "length", "longest length"),
        ({"state": RunState.FAILED, "error_message": "Provider gone."}, "failed", "Provider gone."),
    ],
)
def test_an_answer_that_did_not_end_well_says_so(
    page: Client, ada: User, fields: dict[str, Any], state: str, says: str
) -> None:
    run = conversations.answered(ada, **fields)
    html = text_of(page, reverse("chat:message", args=[run.answer_id]))
    assert f'data-state="{state}"' in html
    assert says in html
    assert "data-ask-again" in html


def test_a_conversation_comes_compressed(page: Client, run: Run) -> None:
    address = reverse("chat:conversation", args=[run.conversation_id])
    response = page.get(address, headers={"accept-encoding": "gzip"})
    assert response["Content-Encoding"] == "gzip"
    assert "Lighthouses of Scotland" in gzip.decompress(response.content).decode()


def test_sources_are_the_cited_first_then_the_others(page: Client, run: Run) -> None:
    html = text_of(page, reverse("chat:sources", args=[run.answer_id]))
    assert html.index("Sources") < html.index("Also found") < html.index("sources/2/")
    assert f"/messages/{run.answer_id}/citations/0/" in html
    assert "0.75" in html


def test_a_source_has_its_pages_once_and_what_was_not_ranked_its_similarity(
    page: Client, run: Run
) -> None:
    """The last passage, of page 1, was merged with the one that is cited, of page 2."""
    merged = run.candidates.get(rank=3)
    Candidate.objects.filter(pk=merged.pk).update(index=1)
    Citation.objects.filter(ordinal=1).update(chunk=merged.chunk, page=1)
    Candidate.objects.filter(rank=2).update(scores={"vector": 0.71})
    html = text_of(page, reverse("chat:sources", args=[run.answer_id]))
    assert html.count('class="source-number">1<') == 1
    assert "pp. 1, 2" in html
    assert "similarity</span>" not in html
    assert "similarity 0.71" in html


def test_without_scripts_a_number_is_listed_once(page: Client, run: Run) -> None:
    html = text_of(page, reverse("chat:message", args=[run.answer_id]))
    plain = html[html.index("citations-plain") : html.index("</noscript>")]
    assert plain.count("[1]") == 1
    assert plain.count("<q>") == 1


def test_what_was_not_answered_shows_what_is_perhaps_related(page: Client, ada: User) -> None:
    run = conversations.answered(ada, answer="No.", finish_reason="no_answer")
    html = text_of(page, reverse("chat:sources", args=[run.answer_id]))
    assert html.index("Perhaps related") < html.index("sources/1/")
    assert "<details" not in html


def test_a_citation_opens_its_passage_with_the_sentence_marked(page: Client, run: Run) -> None:
    html = text_of(page, reverse("chat:citation", args=[run.answer_id, 0]))
    assert "<mark>The lamp can be seen from 22 miles away.</mark>" in html
    assert "Built in 1828" in html  # what stands around it
    assert ">The lamp\n" in html  # a heading, without its hashes
    assert "Page 2" in html
    assert "Citation 1 of 2" in html


def test_a_sentence_is_found_across_line_ends(page: Client, ada: User) -> None:
    text = "# A\n\n## B\nThe lamp was\nlit at Christmas. More.\n"
    run = conversations.answered(ada, version=conversations.document(text), answer="Yes [1].")
    Citation.objects.update(quote="The lamp was lit at Christmas.")
    html = text_of(page, reverse("chat:citation", args=[run.answer_id, 0]))
    assert "<mark>The lamp was\nlit at Christmas.</mark>" in html


def test_a_citation_of_a_removed_document_still_shows_its_quote(page: Client, run: Run) -> None:
    Document.objects.all().delete()
    html = text_of(page, reverse("chat:citation", args=[run.answer_id, 0]))
    assert "has been removed" in html
    assert "The lamp can be seen from 22 miles away." in html


def test_a_passage_one_may_no_longer_see_is_not_shown(page: Client, run: Run) -> None:
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    for name, number in (("citation", 0), ("source", 2)):
        html = text_of(page, reverse(f"chat:{name}", args=[run.answer_id, number]))
        assert "Built in 1828" not in html
        assert "You may no longer see this document" in html


def test_a_citation_not_stored_yet_is_asked_for_again(page: Client, ada: User) -> None:
    run = conversations.answered(ada, answer="", state=RunState.RUNNING)
    url = reverse("chat:citation", args=[run.answer_id, 0])
    assert f'hx-get="{url}"' in text_of(page, url)
    Run.objects.update(state=RunState.COMPLETED)
    assert page.get(url).status_code == 404


def test_an_uncited_passage_opens_too(page: Client, run: Run) -> None:
    html = text_of(page, reverse("chat:source", args=[run.answer_id, 2]))
    assert "The foghorn fell silent" in html
    assert page.get(reverse("chat:source", args=[run.answer_id, 99])).status_code == 404


def waiting(title: str, stage: Stage = Stage.EMBEDDING) -> None:
    """Make a document that was never ready."""
    collection, _ = Collection.objects.get_or_create(name="Samples")
    made = Document.objects.create(collection=collection, name=title, title=title)
    DocumentVersion.objects.create(document=made, number=1, sha256="0", size=1, stage=stage)


@pytest.fixture
def assistant() -> Assistant:
    return Assistant.objects.create(
        name="Archivist", is_default=True, suggested_questions=["How far?"], greeting="Good day."
    )


def test_while_samples_are_indexed_the_page_counts_them(page: Client, assistant: Assistant) -> None:
    conversations.document()
    waiting("b")
    waiting("c", Stage.QUEUED)
    html = text_of(page, "/")
    assert "Good day." in html
    assert "1 of 3 documents ready" in html
    assert "every 2s" in html
    assert "How far?" not in html


def test_once_all_are_ready_or_failed_questions_are_offered(
    page: Client, assistant: Assistant
) -> None:
    conversations.document()
    waiting("b", Stage.FAILED)
    html = text_of(page, reverse("chat:document_status"))
    assert 'data-ask="How far?"' in html
    assert "hx-trigger" not in html


def test_documents_one_may_not_see_do_not_count(page: Client) -> None:
    conversations.document()
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    assert "no documents to search" in text_of(page, "/")


def test_the_banner_says_that_answers_quote_only_without_a_model(page: Client) -> None:
    generator = backends.generator()
    assert isinstance(generator, ScriptedGenerator)
    assert "no model is connected" not in text_of(page, "/")
    generator.quotes_only = True
    assert "no model is connected" in text_of(page, "/")


def test_only_staff_are_led_to_administration(client: Client, ada: User) -> None:
    client.force_login(ada)
    assert "/admin/" not in text_of(client, "/")
    client.force_login(conversations.person("eve", is_staff=True))
    assert "/admin/" in text_of(client, "/")


def test_only_who_may_upload_is_led_to_it(client: Client) -> None:
    eve = conversations.person("eve", is_staff=True)
    client.force_login(eve)
    assert "Upload documents" not in text_of(client, "/")
    eve.user_permissions.add(Permission.objects.get(codename="add_document"))
    assert "Upload documents" in text_of(client, "/")


def test_choices_are_remembered_in_cookies(page: Client) -> None:
    page.cookies["theme"] = "dark"
    page.cookies["sidebar"] = "closed"
    html = text_of(page, "/")
    assert 'data-theme="dark"' in html
    assert "data-sidebar-closed" in html


def test_a_wrong_password_is_said_clearly(client: Client, ada: User) -> None:
    response = client.post("/accounts/login/", {"username": "ada", "password": "wrong"})
    assert 'role="alert"' in response.content.decode()


def test_an_answer_has_the_name_of_who_gave_it(page: Client, ada: User) -> None:
    towers = Assistant.objects.create(name="Towers")
    bridges = Assistant.objects.create(name="Bridges")
    run = conversations.answered(ada, assistant_version=bridges.record_version())
    Conversation.objects.update(assistant=towers)
    shown = text_of(page, reverse("chat:conversation", args=[run.conversation_id]))
    names = re.findall(r'class="answer-name"><bdi>(\w+)', shown)
    # The second is that of the answer to come.
    assert names == ["Bridges", "Towers"]
