"""What the provider of the test suite streams, as OpenAI and as Cohere word it."""

from __future__ import annotations

import json
from typing import Any, ClassVar


class OpenAIEvents:
    """The lines of a streamed chat completion."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.usage = bool((body.get("stream_options") or {}).get("include_usage"))

    def start(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def thinking(self, text: str) -> bytes:
        return self._chunk({"reasoning_content": text})

    def token(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def failure(self, message: str) -> bytes:
        return data({"error": {"message": message, "type": "server_error", "code": 500}})

    def end(self, reason: str | None, tokens: int) -> bytes:
        if reason is None:
            return b": nothing more\n\n"
        lines = self._chunk({}, reason)
        if self.usage:
            usage = {"prompt_tokens": 7, "completion_tokens": tokens, "total_tokens": 7 + tokens}
            lines += data({"object": "chat.completion.chunk", "choices": [], "usage": usage})
        return lines + b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, str], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return data({"id": "1", "object": "chat.completion.chunk", "choices": [choice]})


class CohereEvents:
    """The events of Cohere's v2 chat."""

    reasons: ClassVar = {
        "stop": "COMPLETE",
        "length": "MAX_TOKENS",
        "content_filter": "ERROR_TOXIC",
    }

    def start(self) -> bytes:
        message = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
        return self._event("message-start", {"message": message}, id="1") + self._event(
            "content-start", {"message": {"content": {"type": "text", "text": ""}}}, index=0
        )

    def thinking(self, text: str) -> bytes:
        return self._event("content-delta", {"message": {"content": {"thinking": text}}}, index=0)

    def token(self, text: str) -> bytes:
        return self._event("content-delta", {"message": {"content": {"text": text}}}, index=0)

    def failure(self, message: str) -> bytes:
        return self._event("message-end", {"finish_reason": "ERROR", "error": message})

    def end(self, reason: str | None, tokens: int) -> bytes:
        if reason is None:
            return b": nothing more\n\n"
        usage = {"tokens": {"input_tokens": 7, "output_tokens": tokens}}
        delta = {"finish_reason": self.reasons.get(reason, reason), "usage": usage}
        return self._event("content-end", None, index=0) + self._event("message-end", delta)

    def _event(self, kind: str, delta: Any, **more: Any) -> bytes:
        return f"event: {kind}\n".encode() + data({"type": kind, "delta": delta, **more})


def data(payload: Any) -> bytes:
    """Return an event's data line."""
    return f"data: {json.dumps(payload)}\n\n".encode()
