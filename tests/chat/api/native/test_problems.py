"""Who is let in, by what, and what is said to everybody else."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.test import Client

from chat.accounts.models import ApiToken, Scope
from tests.chat.api.conftest import Live

TYPE = "application/problem+json"


def test_a_token_comes_in_either_header(live: Live) -> None:
    for headers in ({"Authorization": f"Bearer {live.token}"}, {"X-API-Key": live.token}):
        assert httpx.get(f"{live.base_url}/api/v1/me", headers=headers).status_code == 200


def test_nobody_and_what_is_no_token_are_refused(live: Live) -> None:
    for headers in ({}, {"Authorization": "Bearer rs_x"}, {"X-API-Key": "x"}):
        answer = httpx.get(f"{live.base_url}/api/v1/me", headers=headers)
        assert (answer.status_code, answer.headers["Content-Type"]) == (401, TYPE)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.json()["code"] == "not_signed_in"
        assert "Set-Cookie" not in answer.headers


def test_a_revoked_token_is_refused(live: Live) -> None:
    raw = live.make_token()
    with live.client(raw) as client:
        assert client.get("/api/v1/me").status_code == 200
        ApiToken.objects.get(start=raw[:10]).revoke()
        assert client.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        (Scope.ASK, "POST", "runs"),
        (Scope.ASK, "GET", "runs"),
        (Scope.SEARCH, "POST", "search"),
        (Scope.CONVERSATIONS, "GET", "conversations"),
        (Scope.DOCUMENTS_READ, "GET", "documents"),
        (Scope.DOCUMENTS_WRITE, "POST", "documents/text"),
        (Scope.DOCUMENTS_WRITE, "POST", "collections"),
    ],
)
def test_a_token_needs_the_scope(live: Live, scope: Scope, method: str, path: str) -> None:
    others = [each for each in Scope.values if each != scope]
    with live.client(live.make_token(live.user, *others)) as client:
        refused = client.request(method, f"/api/v1/{path}", json={})
    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")
    assert scope.value in refused.json()["detail"]


def test_a_session_comes_in_and_changes_with_its_csrf_token(live: Live) -> None:
    browser = Client()
    browser.force_login(live.user)
    cookies = {"sessionid": browser.cookies["sessionid"].value, "csrftoken": "a" * 32}
    with httpx.Client(base_url=live.base_url, cookies=cookies) as client:
        assert client.get("/api/v1/me").json()["token"] is None
        refused = client.post("/api/v1/conversations", json={})
        assert (refused.status_code, refused.json()["code"]) == (403, "csrf")
        headers = {"X-CSRFToken": "a" * 32, "Origin": live.base_url}
        made = client.post("/api/v1/conversations", json={}, headers=headers)
        assert made.status_code == 201
        files = {"files": ("x.txt", b"x"), "collection": (None, "Buildings")}
        refused = client.post("/api/v1/documents", files=files)
        assert (refused.status_code, refused.json()["code"]) == (403, "csrf")
        taken = client.post("/api/v1/documents", files=files, headers=headers)
        assert taken.status_code == 202


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        ({"method": "PUT", "url": "me"}, 405, "method_not_allowed"),
        ({"method": "GET", "url": "nothing"}, 404, "not_found"),
        ({"method": "GET", "url": "runs/no-id"}, 404, "not_found"),
        ({"method": "POST", "url": "search", "content": b"{"}, 400, "bad_json"),
        ({"method": "POST", "url": "search", "content": b"[" * 100_000}, 400, "bad_json"),
        ({"method": "POST", "url": "search", "data": {"query": "x"}}, 415, None),
        ({"method": "POST", "url": "search", "content": b" " * 3_000_000}, 413, "too_large"),
        ({"method": "GET", "url": "runs?limit=0"}, 422, "invalid"),
    ],
)
def test_a_refusal_is_a_problem(
    ada: httpx.Client, request_: Any, status: int, code: str | None
) -> None:
    json = {} if "data" in request_ else {"headers": {"Content-Type": "application/json"}}
    answer = ada.request(**request_, **json)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, TYPE)
    problem = answer.json()
    assert (problem["status"], problem["code"]) == (status, code or "unsupported_media_type")
    assert problem["request_id"] == answer.headers["X-Request-Id"]
    assert {"type", "title", "detail"} <= problem.keys()


def test_a_fault_tells_nothing_but_the_request_s_id(
    ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("chat.api.native.assistants.choices", fail)
    answer = ada.get("assistants")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert answer.json()["request_id"]


def test_what_cannot_be_stored_is_left_out_of_texts(ada: httpx.Client) -> None:
    body = b'{"title": "a\\u0000b\\ud800c", "metadata": {}}'
    made = ada.post("conversations", content=body, headers={"Content-Type": "application/json"})
    assert made.json()["title"] == "abc"
    assert ada.get("documents?q=%00").status_code == 200
