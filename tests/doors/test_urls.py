"""The matrix: every address of the site, and everybody who may stand before it.

It is made of the URL configuration, so that a new address without a rule fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.models import Assistant
from retrieval.models import Visibility
from tests.doors.people import ANONYMOUS, PEOPLE, World, make_world
from tests.doors.routes import Door, doors
from tests.doors.rules import OPEN_TO_GUESTS, rule_of, things

SIGN_IN = ("/accounts/login/", "/admin/login/", "/accounts/reauthenticate/")
REFUSALS = {401, 403, 404, 405}
DOORS = doors()


def test_every_address_has_a_rule() -> None:
    missing = [door for door in DOORS if rule_of(door) is None]
    assert not missing, "Say in tests/doors/rules.py who may pass."


@pytest.mark.django_db
def test_only_those_pass_who_may(
    subtests: pytest.Subtests, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    world = make_world()
    clients = {person: world.client(person) for person in PEOPLE}
    for door in DOORS:
        with subtests.test(door.name, route=door.route):
            passed = {name for name, client in clients.items() if passes(client, door, world)}
            assert passed == rule_of(door)


@pytest.mark.django_db
def test_a_public_assistant_opens_the_chat_page_to_anybody_and_nothing_else() -> None:
    world = make_world()
    Assistant.objects.create(name="For all", visibility=Visibility.PUBLIC)
    guest = world.client(ANONYMOUS)
    assert {door.name for door in DOORS if passes(guest, door, world)} == {
        door.name for door in DOORS if ANONYMOUS in (rule_of(door) or ())
    } | OPEN_TO_GUESTS


def passes(client: Client, door: Door, world: World) -> bool:
    """Whether a door lets somebody in, whichever way they ask."""
    address = address_of(door, world)
    return any(lets_in(visit(client, method, address)) for method in ("get", "post"))


def address_of(door: Door, world: World) -> str:
    """Return the door's address, leading to what is the owner's or in the collection."""
    given = things(door, world)
    if door.name.endswith(door.route):  # it has no name
        return "/" + re.sub(r"<path:object_id>|\(.*", str(*given.values()), door.route)
    return reverse(door.name, kwargs=given)


def visit(client: Client, method: str, address: str) -> HttpResponse:
    """Ask once; what comes of it is undone, so that the next finds everything in its place."""
    ask: Callable[..., Any] = getattr(client, method)
    cookies = SimpleCookie(client.cookies)
    with transaction.atomic():
        response: HttpResponse = ask(address)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response


def lets_in(response: HttpResponse) -> bool:
    """Whether an answer is more than being sent away."""
    if response.status_code in REFUSALS:
        return False
    to = response.headers.get("Location") or response.headers.get("HX-Redirect") or ""
    # What is not there for somebody, Django's admin says on its first page.
    return not to.startswith(SIGN_IN) and to != reverse("admin:index")
