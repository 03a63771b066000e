"""One request each, as the site or what stands before it may answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from chat.client.connection import Connection
from chat.client.errors import NotFoundError, RagError, RateLimitedError, UnavailableError
from chat.frames import Frame

TOKEN = {"type": "token", "run": None, "seq": 3, "text": "96"}
EVENTS = {"Content-Type": "text/event-stream"}


def connection(answer: Callable[[httpx2.Request], httpx2.Response]) -> Connection:
    made = Connection("https://site.example/", "rs_1", 5)
    transport = httpx2.MockTransport(answer)
    headers, base_url = made._http.headers, made._http.base_url
    made._http = httpx2.AsyncClient(transport=transport, headers=headers, base_url=base_url)
    return made


async def frames(site: Connection, **options: Any) -> list[Frame]:
    return [frame async for frame in site.frames("GET", "runs/1/events", **options)]


async def refusal(status: int, **answer: Any) -> RagError:
    site = connection(lambda _: httpx2.Response(status, **answer))
    with pytest.raises(RagError) as caught:
        await site.call("GET", "search")
    with pytest.raises(type(caught.value)):
        await frames(site)
    return caught.value


async def test_a_request_has_the_token_and_says_what_was_seen() -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(200, headers=EVENTS, text="")

    assert await frames(connection(answer), after=7) == []
    (request,) = asked
    assert str(request.url) == "https://site.example/api/v1/runs/1/events"
    assert request.headers["Authorization"] == "Bearer rs_1"
    assert request.headers["Last-Event-ID"] == "7"


async def test_frames_of_a_newer_site_are_read_as_far_as_they_are_known() -> None:
    events = [{"type": "dance", "seq": 2}, {**TOKEN, "colour": "red"}]
    text = "".join(f": beat\n\ndata: {json.dumps(event)}\n\n" for event in events)
    site = connection(lambda _: httpx2.Response(200, headers=EVENTS, text=text))
    (frame,) = await frames(site)
    assert frame.model_dump() == TOKEN


async def test_a_problem_is_an_error_with_its_code() -> None:
    error = await refusal(404, json={"detail": "No such answer.", "code": "not_found"})
    assert (type(error), error.message) == (NotFoundError, "No such answer.")
    assert (error.code, error.status, error.retry_after) == ("not_found", 404, None)


async def test_when_to_come_back_is_in_seconds() -> None:
    error = await refusal(429, headers={"Retry-After": "7"}, json={})
    assert (type(error), error.retry_after) == (RateLimitedError, 7.0)


@pytest.mark.parametrize("content", [b"<html>Bad gateway</html>", b"[]", b"\xff"])
async def test_what_a_proxy_says_instead_is_an_error_too(content: bytes) -> None:
    error = await refusal(502, content=content)
    assert (type(error), error.status) == (UnavailableError, 502)


async def test_what_is_no_site_is_told_from_one() -> None:
    site = connection(lambda _: httpx2.Response(200, text="<html>Welcome</html>"))
    with pytest.raises(UnavailableError) as caught:
        await site.call("GET", "search")
    assert caught.value.code == "not_the_site"
    with pytest.raises(UnavailableError):
        await frames(site)


async def test_lists_are_read_page_after_page() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.params["cursor"]:
            return httpx2.Response(200, json={"items": [2], "next": None})
        return httpx2.Response(200, json={"items": [1], "next": "/api/v1/x?limit=1&cursor=a%3D"})

    assert [item async for item in connection(answer).items("x", {"limit": 1})] == [1, 2]
