"""Assistants, conversations, the runs that answer questions, and the evidence of each answer."""

from chat.models.assistants import (
    Assistant,
    AssistantQuerySet,
    AssistantVersion,
    Audience,
)
from chat.models.conversations import Conversation, Message, Role
from chat.models.evidence import Candidate, Citation
from chat.models.runs import ACTIVE, Run, RunFrame, RunState

__all__ = [
    "ACTIVE",
    "Assistant",
    "AssistantQuerySet",
    "AssistantVersion",
    "Audience",
    "Candidate",
    "Citation",
    "Conversation",
    "Message",
    "Role",
    "Run",
    "RunFrame",
    "RunState",
]
