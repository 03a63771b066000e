"""Collections, searching, who calls, and requests that are sent twice."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.contrib.auth.models import Group, User

from chat.accounts.models import RememberedRequest, Scope
from retrieval.models import Collection, Document
from tests.chat.api.conftest import Live

Json = dict[str, Any]


@pytest.fixture(scope="module")
def root(live: Live) -> Any:
    """Return a client of an administrator."""
    user = User.objects.create_user("root", password="root")
    user.groups.add(Group.objects.get(name="Administrators"))
    with live.client(live.make_token(user, *Scope.values)) as client:
        client.base_url = f"{live.base_url}/api/v1/"
        yield client


def test_collections_say_what_is_in_them(ada: httpx.Client, bob: httpx.Client) -> None:
    (own,) = ada.get("collections").json()["items"]
    (others,) = bob.get("collections").json()["items"]
    assert (own["documents"], own["ready"], own["may_manage"]) == (3, 3, True)
    assert others == {**own, "may_manage": False}


def test_a_collection_is_made_changed_and_deleted_by_who_may(
    root: httpx.Client, ada: httpx.Client
) -> None:
    assert ada.post("collections", json={"name": "Mine"}).status_code == 403
    made = root.post("collections", json={"name": "New", "visibility": "restricted"})
    assert made.status_code == 201
    key = made.json()["id"]
    assert root.post("collections", json={"name": "New"}).json()["code"] == "exists"
    assert ada.get(f"collections/{key}").status_code == 404
    assert ada.delete(f"collections/{key}").status_code == 404
    changed = root.patch(f"collections/{key}", json={"description": "Of new things."}).json()
    assert (changed["name"], changed["description"]) == ("New", "Of new things.")
    assert root.delete(f"collections/{key}").status_code == 204
    assert not Collection.objects.filter(pk=key).exists()


def test_a_manager_changes_but_neither_publishes_nor_deletes(ada: httpx.Client, live: Live) -> None:
    path = f"collections/{live.collection.pk}"
    assert ada.patch(path, json={"description": "Of buildings."}).status_code == 200
    assert ada.patch(path, json={"visibility": "public"}).status_code == 403
    assert ada.delete(path).status_code == 403


def test_a_search_finds_passages_by_all_settings(ada: httpx.Client, live: Live) -> None:
    settings = {
        "limit": 2,
        "search_mode": "custom",
        "use_hybrid_search": True,
        "include_metadatas": True,
        "filters": {"name": {"$neq": "mill.md"}},
    }
    body = {"query": "How long is the bridge?", "settings": settings, "collections": ["Buildings"]}
    answer = ada.post("search", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    first = found["results"][0]
    assert first["document"] == str(live.documents["bridge.md"].pk)
    assert "7845 metres" in first["text"]
    assert first["scores"]
    assert first["metadata"] is not None
    assert len(found["results"]) <= 2


def test_a_search_is_of_what_one_may_see(bob: httpx.Client, live: Live) -> None:
    hidden = Collection.objects.create(name="Hidden", visibility="restricted")
    for which in ("Hidden", str(hidden.pk)):
        answer = bob.post("search", json={"query": "tower", "collections": [which]})
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_collection")
    by_id = {"query": "tower", "collections": [str(live.collection.pk)]}
    assert bob.post("search", json=by_id).json()["results"]


def test_searching_too_often_is_refused_with_a_time_to_come_back(
    bob: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chat import pace  # noqa: PLC0415

    monkeypatch.setattr(pace, "MOST_A_MINUTE", 0)
    answer = bob.post("search", json={"query": "tower"})
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0


def test_it_is_said_who_calls(ada: httpx.Client) -> None:
    me = ada.get("me").json()
    assert (me["username"], me["may_upload"], me["may_add_collections"]) == ("ada", True, False)
    assert me["token"] == {"name": "All", "scopes": list(Scope.values), "expires_at": None}


def test_the_same_request_with_a_key_is_done_once(ada: httpx.Client) -> None:
    body = {"collection": "Buildings", "name": "once.txt", "text": "Once."}
    headers = {"Idempotency-Key": "k1"}
    first = ada.post("documents/text", json=body, headers=headers)
    again = ada.post("documents/text", json=body, headers=headers)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Document.objects.filter(name="once.txt").count() == 1
    other = ada.post("documents/text", json={**body, "text": "Twice."}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_a_form_with_files_is_done_once_too(ada: httpx.Client) -> None:
    headers = {"Idempotency-Key": "k2"}

    def send(content: bytes) -> httpx.Response:
        files = [("files", ("form.txt", content))]
        return ada.post("documents", files=files, data={"collection": "Buildings"}, headers=headers)

    assert send(b"The form.").json() == send(b"The form.").json()
    assert send(b"Another.").status_code == 422


def test_keys_are_each_person_s_own_and_refusals_are_not_kept(
    ada: httpx.Client, bob: httpx.Client
) -> None:
    headers = {"Idempotency-Key": "k3"}
    assert bob.post("collections", json={"name": "B"}, headers=headers).status_code == 403
    first = ada.post("conversations", json={"title": "A"}, headers=headers).json()
    second = bob.post("conversations", json={"title": "A"}, headers=headers).json()
    assert first["id"] != second["id"]


def test_what_is_still_answered_is_not_begun_again(ada: httpx.Client, live: Live) -> None:
    ada.post("conversations", json={"title": "C"}, headers={"Idempotency-Key": "k4"})
    RememberedRequest.objects.filter(user=live.user, key="k4").update(status=0)
    again = ada.post("conversations", json={"title": "C"}, headers={"Idempotency-Key": "k4"})
    assert (again.status_code, again.json()["code"]) == (409, "in_progress")
