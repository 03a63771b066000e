"""Telling pages that watch a conversation that something was asked in it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from channels.layers import get_channel_layer

if TYPE_CHECKING:
    from chat.models import Run


def conversation_group(conversation: UUID) -> str:
    """Return the channel-layer group of those who watch a conversation."""
    return f"conversation.{conversation}"


async def announce(run: Run) -> None:
    """Let every page that watches the run's conversation follow it."""
    layer = get_channel_layer()
    if layer is not None:
        await layer.group_send(
            conversation_group(run.conversation_id),
            {
                "type": "run.started",
                "run": str(run.id),
                "conversation": str(run.conversation_id),
            },
        )
