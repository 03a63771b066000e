"""The fake provider, with answers that are hard to draw: the question names their kind.

    python -m benchmarks.browser_provider --port 9900

Its folder must be on the path. At its end a question may say how many tokens a second it wants.
"""

from __future__ import annotations

import asyncio
import importlib
import re
import time
from typing import TYPE_CHECKING, Any

from benchmarks import browser_texts

if TYPE_CHECKING:
    from aiohttp import web

RATE = 200
fake_llm = importlib.import_module("fake_llm")
fake_stream = fake_llm.chat_stream


async def stream(
    request: web.Request, body: dict[str, Any], *fake: Any
) -> web.StreamResponse | None:
    """Write the kind of answer that the question names, at its pace."""
    question = fake_llm.message_text(body["messages"][-1])
    kinds = (*browser_texts.KINDS, browser_texts.LONG)
    kind = next((each for each in kinds if f"Show {each}" in question), None)
    if kind is None:
        response: web.StreamResponse = await fake_stream(request, body, *fake)
        return response
    pace = re.search(r"at (\d+) a second", question)
    response = await fake_llm.start_sse(request)
    await write(response, fake[0], kind, int(pace[1]) if pace else RATE)
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


async def write(response: web.StreamResponse, record: Any, kind: str, rate: int) -> None:
    """Write an answer, each token at its time."""
    began = time.monotonic()
    for number, piece in enumerate(browser_texts.pieces(kind)):
        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
        await response.write(fake_llm.envelope(record, {"content": piece}))
        record["tokens"] = number + 1
    await response.write(fake_llm.envelope(record, {}, "stop"))


if __name__ == "__main__":
    fake_llm.chat_stream = stream
    fake_llm.main()
