"""A socket whose server is the test: it sees what the page sends, and sends what it likes."""

from __future__ import annotations

import json
import time
from typing import Any
from uuid import uuid4

from playwright.sync_api import Page, WebSocketRoute

WAIT_SECONDS = 20.0


class ScriptedSocket:
    """Stands in for `/ws/chat/` of a page; frames are numbered as a run's are."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.messages: list[dict[str, Any]] = []
        self.route: WebSocketRoute | None = None
        self.run = str(uuid4())
        self.seq = 0
        self.silent = False
        self.pings = 0
        page.route_web_socket("**/ws/chat/", self._opened)
        # The server knows nothing of these answers.
        foot = '<footer class="answer-foot"></footer>'
        page.route("**/messages/*/", lambda route: route.fulfill(body=foot))

    def _opened(self, route: WebSocketRoute) -> None:
        self.route = route
        route.on_message(lambda message: self._came(route, json.loads(message)))

    def _came(self, route: WebSocketRoute, message: dict[str, Any]) -> None:
        if message["type"] != "ping":
            self.messages.append(message)
            return
        self.pings += 1
        if not self.silent:
            route.send(json.dumps({"type": "pong", "run": None, "seq": 0}))

    def wait_for(self, kind: str) -> dict[str, Any]:
        """Return the first message of a type that has not been returned yet."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            for position, message in enumerate(self.messages):
                if message["type"] == kind:
                    return self.messages.pop(position)
            self._let_come(kind, deadline)

    def wait_for_ping(self, count: int) -> None:
        """Return when so many pings have come in all, and all were answered."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.pings < count:
            self._let_come("ping", deadline)

    def _let_come(self, kind: str, deadline: float) -> None:
        assert time.monotonic() < deadline, f"No {kind} came."
        # Playwright delivers messages while it waits for something.
        self.page.evaluate("() => new Promise(requestAnimationFrame)")

    def send(self, kind: str, **fields: Any) -> None:
        """Send the run's next frame."""
        self.seq += 1
        self.send_raw({"type": kind, "run": self.run, "seq": self.seq, **fields})

    def send_raw(self, frame: dict[str, Any]) -> None:
        """Send a frame just as it is."""
        assert self.route is not None
        self.route.send(json.dumps(frame))

    def begin(self, ask: dict[str, Any], **fields: Any) -> None:
        """Begin a new run that answers `ask`."""
        self.run, self.seq = str(uuid4()), 0
        ids = {name: str(uuid4()) for name in ("conversation", "question", "answer")} | fields
        self.send("status", stage="queued", message="Question received", ask=ask.get("id"), **ids)

    def done(self, answer: str, reason: str = "stop", citations: Any = ()) -> None:
        """End the run."""
        self.send("done", finish_reason=reason, answer=answer, citations=list(citations))
