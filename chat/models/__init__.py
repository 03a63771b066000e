"""Assistants, conversations and their runs, what each answer rests on, and what is said of it."""

from chat.models.assistants import (
    Assistant,
    AssistantQuerySet,
    AssistantVersion,
    Audience,
)
from chat.models.conversations import Conversation, Message, Role, Titling
from chat.models.evidence import Candidate, Citation
from chat.models.feedback import Feedback, Reason
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
    "Feedback",
    "Message",
    "Reason",
    "Role",
    "Run",
    "RunFrame",
    "RunState",
    "Titling",
]
