"""What all APIs answer alike, seen at the native one."""

from __future__ import annotations

from tests.chat.api.conftest import Live


def test_an_address_that_there_is_not_is_a_problem_and_no_page(live: Live) -> None:
    with live.client() as client:
        for path in ("/api/v1/nothing", "/api/v1/nothing/", "/api/v1/"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_request_has_the_id_that_its_caller_gives_it(live: Live) -> None:
    with live.client() as client:
        assert client.get("/api/v1/", headers={"X-Request-Id": "a-1"}).json()["request_id"] == "a-1"
        strange = client.get("/api/v1/", headers={"X-Request-Id": "a b"})
        assert strange.headers["X-Request-Id"] == strange.json()["request_id"] != "a b"
