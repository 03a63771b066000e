"""Programs in browsers, on pages of other sites."""

from __future__ import annotations

import pytest

from tests.chat.api.conftest import Live

ELSEWHERE = {"Origin": "https://elsewhere.example"}
APIS = ["/api/v1/conversations", "/r2r/v3/users/me", "/langgraph/threads", "/openai/v1/models"]


@pytest.mark.parametrize("path", APIS)
def test_a_page_of_another_site_may_send_a_token(live: Live, path: str) -> None:
    asked = {
        **ELSEWHERE,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,last-event-id",
    }
    with live.client(headers={**asked, "Authorization": ""}) as http:
        sent = http.options(path)
    assert (sent.status_code, sent.content) == (204, b"")
    assert sent.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in sent.headers["Access-Control-Allow-Methods"]
    assert sent.headers["Access-Control-Allow-Headers"] == asked["Access-Control-Request-Headers"]


@pytest.mark.parametrize("path", APIS)
def test_it_reads_what_is_answered_but_nothing_of_a_session(live: Live, path: str) -> None:
    with live.client(headers={**ELSEWHERE, "Authorization": ""}) as http:
        sent = http.get(path)
    assert sent.status_code in (401, 405)
    # Errors, too: a script is to know why.
    assert sent.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in sent.headers
    exposed = sent.headers["Access-Control-Expose-Headers"]
    assert {"Content-Location", "Idempotent-Replayed", "Location", "X-Request-Id"} <= set(
        exposed.split(", ")
    )


def test_pages_of_the_site_are_for_itself_only(live: Live) -> None:
    with live.client(headers={**ELSEWHERE, "Authorization": ""}) as http:
        sent = http.get("/accounts/login/")
    assert "Access-Control-Allow-Origin" not in sent.headers
