"""What an event says."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import RequestFactory

from chat.accounts.guests import NOT_STORED
from chat.accounts.models import Guest
from chat.models import Conversation
from retrieval.audit.models import AuditEvent
from retrieval.audit.recording import Target, answering, arecord, record
from retrieval.database import in_thread
from retrieval.limits.models import Limit
from retrieval.models import Collection
from tests.conversations import person

pytestmark = pytest.mark.django_db


def request(**fields: Any) -> HttpRequest:
    made = RequestFactory().get("/", REMOTE_ADDR=fields.pop("address", "192.0.2.7"))
    made.user = AnonymousUser()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_an_event_names_who_did_what_to_what_and_from_where() -> None:
    ada, towers = person("ada"), Collection.objects.create(name="Towers")
    made = record(ada, "collection.opened", towers, request=request(), request_id="r1", pages=3)
    found = AuditEvent.objects.get(pk=made.pk)
    assert (found.actor_id, found.actor_name) == (ada.pk, "ada")
    assert (found.target_type, found.target_id) == ("retrieval.collection", str(towers.pk))
    assert (found.target_name, found.action) == ("Towers", "collection.opened")
    assert (found.address, found.via, found.request_id) == ("192.0.2.7", "session", "r1")
    assert found.details == {"pages": 3}


def test_without_an_actor_it_is_who_sent_the_request_that_is_answered() -> None:
    ada = person("ada")
    with answering(request(user=ada, token="t")):
        event = record(None, "file.downloaded")
    assert (event.actor_id, event.address, event.via) == (ada.pk, "192.0.2.7", "token")
    assert record(None, "file.downloaded").actor_id is None


def test_nobody_signed_in_is_nobody() -> None:
    event = record(AnonymousUser(), "file.downloaded", request=request(address="2001:db8::1"))
    assert (event.actor_id, event.actor_name, event.address) == (None, "", "2001:db8::1")


def test_a_guest_of_whom_nothing_is_stored_is_nobody() -> None:
    phantom = Guest(pk=NOT_STORED, username="guest-1", is_active=False)
    event = record(None, "login.failed", request=request(user=phantom))
    assert (event.actor_id, event.actor_name, event.address) == (None, "", "192.0.2.7")
    stored = Guest.objects.create_guest()
    event = record(None, "login.failed", request=request(user=stored))
    assert (event.actor_id, event.actor_name) == (stored.pk, stored.username)


def test_what_is_one_persons_own_is_called_by_their_key() -> None:
    ada = person("ada")
    address = EmailAddress.objects.create(user=ada, email="ada@example.org")
    assert record(None, "a", address).target_name == f"of user {ada.pk}"
    assert record(None, "a", Limit.objects.create(user=ada)).target_name == f"of user {ada.pk}"
    everyone = Limit.objects.create(scope="everyone")
    assert record(None, "a", everyone).target_name == "Everyone who is signed in"


def test_a_socket_has_an_address_or_none() -> None:
    assert record(None, "a", request={"client": ["192.0.2.9", 5]}).address == "192.0.2.9"
    assert record(None, "a", request={"client": None}).address is None


def test_behind_proxies_the_address_is_what_the_outermost_of_them_saw(settings: Any) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    forwarded = "203.0.113.66, 192.0.2.8"
    made = request(address="127.0.0.1")
    made.META["HTTP_X_FORWARDED_FOR"] = forwarded
    scope = {"client": ["127.0.0.1", 5], "headers": [(b"x-forwarded-for", forwarded.encode())]}
    for origin in (made, scope):
        assert record(None, "a", request=origin).address == "192.0.2.8"
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 0
    for origin in (made, scope):
        assert record(None, "a", request=origin).address == "127.0.0.1"


def test_what_people_wrote_is_not_in_it() -> None:
    ada = person("ada")
    conversation = Conversation.objects.create(user=ada, title="Am I ill?")
    event = record(ada, "conversation.opened", conversation)
    assert (event.target_id, event.target_name) == (str(conversation.pk), "")


def test_what_cannot_be_seen_in_a_name_is_spelt_out_and_a_long_one_cut() -> None:
    event = record(None, "a", Target("retrieval.document", "1", "a\0\u202e" + "x" * 400))
    assert event.target_name.startswith(r"a\u0000\u202ex")
    assert len(event.target_name) == 300


@pytest.mark.django_db(transaction=True)
async def test_async_code_records_too() -> None:
    event = await arecord(None, "login.failed", request={"client": ["192.0.2.9", 5]})
    assert await in_thread(AuditEvent.objects.filter(pk=event.pk).exists)
