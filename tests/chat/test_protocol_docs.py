"""docs/protocol.md says what chat/frames.py and chat/client_messages.py define."""

import re
from pathlib import Path
from typing import Any, get_args

from chat import client_messages, frames

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
NOT_IN_TABLE = {"type", "run", "seq"}


def documented(heading: str) -> dict[str, set[str]]:
    """Return the fields each type has in the first table behind a heading."""
    table = PAGE.partition(heading)[2].partition("\n\nRules")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", fields)) for name, fields in rows}


def defined(adapter: Any, ignored: set[str]) -> dict[str, set[str]]:
    union = get_args(adapter._type)[0]
    return {
        model.model_fields["type"].annotation.__args__[0]: set(model.model_fields) - ignored
        for model in get_args(union)
    }


def test_the_page_has_every_frame_with_its_fields() -> None:
    assert documented("## From the server") == defined(frames.FrameAdapter, NOT_IN_TABLE)


def test_the_page_has_every_message_with_its_fields() -> None:
    messages = defined(client_messages.ClientMessageAdapter, {"type"})
    assert documented("## From the client") == messages
