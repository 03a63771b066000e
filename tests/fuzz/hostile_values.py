"""Values that programs have stumbled over, and JSON made of them at random."""

# ruff: noqa: E501 - lists to look at

from __future__ import annotations

import json
import random
import uuid
from typing import Any

TEXTS = [
    "", " ", "0", "-1", "1", "2", "9" * 30, "1e999", "NaN", "null", "true", "[]", "{}", "x" * 5000, "\x00", "a\x00b",
    "é", "日本語", "🗼", "\u202e", "\u200b", "\ufffe", "\U000e0041", "'", '"', "'; DROP TABLE x; --", "%", "%s", "%00",
    "_", "\\", "\n", "\r\nSet-Cookie: a=b", "<script>alert(1)</script>", "{{ 7*7 }}", "${x}", "../../etc/passwd",
    "C:\\con", "//evil.example", "javascript:alert(1)", "2026-13-45", "00000000-0000-0000-0000-000000000000",
    "\u0660", "１", "ﬁ", "ß" * 300, "\ud7ff", "$gt", "__proto__", "admin", "all", "None", "last", "page",
]  # fmt: skip
SCALARS: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**40, 0.1, -0.0, 1e308, [], {}, *TEXTS,
]  # fmt: skip


def value(chance: random.Random, depth: int = 0) -> Any:
    """Return any JSON value."""
    kind = chance.random()
    if depth < 4 and kind < 0.12:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if depth < 4 and kind < 0.24:
        return {chance.choice(TEXTS): value(chance, depth + 1) for _ in range(chance.randrange(4))}
    return chance.choice(SCALARS)


def message(chance: random.Random, known: list[str]) -> str | bytes:
    """Return a message to the socket: a valid one, changed a little, or anything at all.

    `known` are ids of runs and conversations.
    """
    some = chance.choice([*known, str(uuid.UUID(int=chance.getrandbits(128)))])
    kinds: list[dict[str, Any]] = [
        {"type": "ask", "text": "How high?", "id": some, "conversation": some, "assistant": "x",
         "collections": ["Samples"], "model": "x", "settings": {"limit": 3, "filters": {"title": {"$eq": "x"}}}},
        {"type": "stop", "run": some, "ask": some},
        {"type": "resume", "run": some, "after": 0},
        {"type": "watch", "conversation": some},
        {"type": "prefetch", "text": "How hi", "conversation": some},
        {"type": "ack", "run": some, "seq": 3},
    ]  # fmt: skip
    made = chance.choice(kinds)
    for _ in range(chance.randrange(1, 4)):
        name = chance.choice([*made, "type", "HEADERS", chance.choice(TEXTS)])
        if chance.random() < 0.3:
            made.pop(name, None)
        else:
            made[name] = value(chance)
    text = json.dumps(made, ensure_ascii=chance.random() < 0.5)
    return _damaged(chance, text)


def _damaged(chance: random.Random, text: str) -> str | bytes:
    """Return a message as it is, mostly; or cut, doubled, nested, enlarged, or as bytes."""
    at = chance.randrange(len(text) + 1)
    piece = chance.choice(["\\ud800", "\\u0000", '"', "}", "[", "\x7f"])
    damaged: dict[str | bytes, float] = {
        text: 75,
        text[:at]: 5,
        text[:at] + piece + text[at:]: 6,
        text * 2: 3,
        "[" * 5_000 + text: 2,
        text[:-1] + ', "x": "' + "x" * 300_000 + '"}': 0.5,
        text.encode("utf-8", "surrogatepass"): 5,
        bytes(chance.getrandbits(8) for _ in range(chance.randrange(60))): 3.5,
    }
    return chance.choices(list(damaged), list(damaged.values()))[0]
