"""No address of the site answers 500, whatever is asked of it."""

# ruff: noqa: E501 - lists to look at

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from retrieval.models import Collection, DocumentVersion
from tests import conversations
from tests.fuzz.hostile_values import TEXTS

ARGUMENT = re.compile(r"<(?:\w+:)?\w+>")
# Not those that Django's autocompletion offers: its widget raises ValueError for what is no number.
NAMED = re.compile(
    r'<(?:input|select|textarea|button)\b(?![^>]*admin-autocomplete)[^>]*\bname="([^"]+)"'
)
# What the site's pages, and Django's lists, read of a query.
KEYS = [
    "q", "page", "p", "o", "e", "all", "part", "chunks", "version", "current", "stage", "error", "next", "download",
    "_popup", "_to_field", "_changelist_filters", "id__exact", "title__icontains", "created_at__gte", "pk__in",
    "collection__id__exact", "app_label", "model_name", "field_name", "term", "user", "action", "format", "token",
]  # fmt: skip
# How often each is tried.
TIMES = int(os.environ.get("FUZZ_TIMES", "1"))
# What they would do to the test itself.
LEFT_OUT = ("logout",)


def routes(patterns: list[URLPattern | URLResolver], before: str = "/") -> Iterator[str]:
    """Yield all routes of the site, their arguments as `<converter:name>`."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        elif "^" not in route and not any(part in route for part in LEFT_OUT):
            yield route


@pytest.fixture
def known(db: None) -> list[str]:
    """Return ids of what there is."""
    run = conversations.answered(conversations.person("eve"))
    version = DocumentVersion.objects.select_related("document").get()
    ids = [run.pk, run.conversation_id, run.question_id, run.answer_id, version.pk]
    return [str(each) for each in (*ids, version.document_id, Collection.objects.get().pk, 1, 0)]


@pytest.fixture
def client(db: None) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(conversations.person("ada", is_staff=True, is_superuser=True))
    return client


def address(route: str, known: list[str], chance: random.Random) -> str:
    """Return an address of a route, with something or other for its arguments and its query."""

    def argument(_: re.Match[str]) -> str:
        return quote(chance.choice([*known * 4, *TEXTS]), safe="")

    query = urlencode(
        [(chance.choice(KEYS), chance.choice([*TEXTS, *known])) for _ in range(chance.randrange(4))]
    )
    broken = chance.choice(["", "", "&a=%ff%fe", "&%00=1", "&" + "a&" * 300])
    return f"{ARGUMENT.sub(argument, route)}?{query}{broken}"


def assert_sound(response: HttpResponseBase, asked: str) -> None:
    assert response.status_code < 500, asked
    assert "Content-Security-Policy" in response.headers


def test_no_address_or_query_makes_an_error(
    client: Client, known: list[str], chance: random.Random
) -> None:
    found = list(routes(get_resolver().url_patterns))
    assert len(found) > 60
    for route in found:
        for _ in range(TIMES):
            asked = address(route, known, chance)
            assert_sound(client.get(asked), asked)


def test_no_field_of_a_form_makes_an_error(
    client: Client, known: list[str], chance: random.Random
) -> None:
    for route in routes(get_resolver().url_patterns):
        path = ARGUMENT.sub(lambda _: chance.choice(known), route)
        page = client.get(path)
        body = b"" if page.streaming else page.content
        fields = {*NAMED.findall(body.decode()), "title", "name", "action", "_selected_action"}
        for _ in range(TIMES):
            data = {field: chance.choice([*TEXTS, *known]) for field in sorted(fields)}
            assert_sound(client.post(path, data), f"{path} {data}")


@pytest.mark.django_db
@pytest.mark.parametrize("name", [text for text in TEXTS if text], ids=ascii)
def test_no_name_of_an_uploaded_file_makes_an_error(client: Client, name: str) -> None:
    collection = Collection.objects.create(name="Samples")
    file = SimpleUploadedFile("x.txt", b"It is high.")
    file._name = name  # what a client may say, not what Django makes of it
    data = {"collection": str(collection.pk), "files": file, "paths": name, "path": name}
    response = client.post("/admin/retrieval/document/upload/", data)
    assert_sound(response, name)


def test_the_ids_of_others_are_not_told_from_none(client: Client, known: list[str]) -> None:
    other = Client(raise_request_exception=False)
    other.force_login(User.objects.create_user("mallory"))
    for each in known[:4]:
        for path in (f"/c/{each}/", f"/messages/{each}/", f"/messages/{each}/sources/"):
            assert other.get(path).status_code == 404
