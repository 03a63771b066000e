"""An answer's events through nginx: each comes when it is made, and a cut is gone on behind."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User

from chat.accounts import tokens
from tests.deploy.conftest import Web
from tests.provider import Provider
from tests.servers import Relay, nginx

QUESTION = {"text": "How high is the tower of Lund?"}


def frames(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    """Yield frames as they come in."""
    for line in answer.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def until(coming: Iterator[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    """Return the frames up to the first of one of these types."""
    found = []
    for frame in coming:
        found.append(frame)
        if frame["type"] in kinds:
            return found
    raise AssertionError(found)


def test_each_frame_arrives_when_it_is_made_and_a_cut_is_gone_on_behind(
    start_web: Callable[..., Web], ada: User, tower: None, model: Provider
) -> None:
    web = start_web(RUN_GRACE_SECONDS="60")
    headers = {"Authorization": f"Bearer {tokens.make(ada, 'Test', ['ask'])[1]}"}
    arrived: list[float] = []
    with nginx(web.port) as front:
        relay = Relay(front)
        relay.open()
        with httpx.Client(
            base_url=f"http://127.0.0.1:{relay.port}/api/v1", headers=headers, timeout=20
        ) as client:
            with client.stream("POST", "/runs", json=QUESTION) as answer:
                assert answer.headers["Content-Type"] == "text/event-stream"
                assert "Content-Length" not in answer.headers
                coming = frames(answer)
                seen = [next(coming)]
                for _ in range(3):
                    # The next token is not made before the frames of this one are here.
                    model.release(1)
                    seen += until(coming, "citation")
                    arrived.append(time.monotonic())
                relay.drop()
                with pytest.raises(httpx.TransportError):
                    # What came together with the citation is read before the cut is seen.
                    seen.extend(coming)
            made = model.wait_for_request().produced
            assert made[0] < arrived[0] < made[1] < arrived[1] < made[2] < arrived[2]
            run, last = seen[0]["run"], seen[-1]["seq"]
            model.release(1)
            again = {"Last-Event-ID": str(last)}
            with client.stream("GET", f"/runs/{run}/events", headers=again) as answer:
                coming = frames(answer)
                seen += until(coming, "citation")
                assert client.post(f"/runs/{run}/stop").json()["state"] == "cancelled"
                seen += until(coming, "done")
        relay.cut()
    assert [frame["seq"] for frame in seen] == list(range(1, len(seen) + 1))
    text = "".join(frame["text"] for frame in seen if frame["type"] == "token")
    assert seen[-1]["answer"] == text
    assert text.count("[1]") == 4
