"""Frames and messages on the wire."""

from uuid import UUID

import pytest
from pydantic import ValidationError

from chat.client_messages import ClientMessageAdapter, Stop
from chat.frames import FrameAdapter, Token

RUN = UUID("019abcde-0000-7000-8000-000000000000")


def test_a_frame_survives_the_wire() -> None:
    frame = Token(text="naïve \u2028 😀").numbered(RUN, 3)
    assert FrameAdapter.validate_json(frame.to_json()) == frame


def test_numbering_leaves_the_original_alone() -> None:
    frame = Token(text="a")
    frame.numbered(RUN, 1)
    assert frame.seq == 0


def test_what_htmx_adds_to_a_message_is_ignored() -> None:
    message = ClientMessageAdapter.validate_python({"type": "stop", "HEADERS": {"HX-Request": "1"}})
    assert message == Stop(type="stop")


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 20_001])
def test_a_question_has_a_length(text: str) -> None:
    with pytest.raises(ValidationError):
        ClientMessageAdapter.validate_python({"type": "ask", "text": text})


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValidationError):
        ClientMessageAdapter.validate_python({"type": "shout"})
