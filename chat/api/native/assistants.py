"""The assistants that a person may ask."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404
from ninja import Field, Router, Schema

from chat.api.credentials import Request
from chat.api.native.callers import Caller
from chat.choosing import Choice, choices

router = Router(tags=["assistants"], auth=Caller())


class AssistantOut(Schema):
    """An assistant; questions name it by its `name`."""

    id: UUID
    name: str
    is_default: bool
    greeting: str
    suggested_questions: list[str]
    collections: list[str] = Field(
        description="The names of those it searches that you may see; none: all that you may see."
    )
    models: list[str] = Field(description="What a question may choose as its `model`.")


class Assistants(Schema):
    """All that may be asked; the preferred one comes first."""

    items: list[AssistantOut]


@router.get("", response=Assistants, operation_id="listAssistants", summary="List assistants")
def list_assistants(request: Request) -> Assistants:
    """List whom you may ask. Where there is none at all, questions are answered without one."""
    return Assistants(items=[_shown(each) for each in choices(request.user).assistants])


@router.get(
    "{uuid:assistant_id}",
    response=AssistantOut,
    operation_id="getAssistant",
    summary="One assistant",
)
def get_assistant(request: Request, assistant_id: UUID) -> AssistantOut:
    """Return one that you may ask."""
    for each in choices(request.user).assistants:
        if each.assistant.pk == assistant_id:
            return _shown(each)
    raise Http404


def _shown(choice: Choice) -> AssistantOut:
    assistant = choice.assistant
    own = [assistant.model] if assistant.model else []
    return AssistantOut(
        id=assistant.pk,
        name=assistant.name,
        is_default=assistant.is_default,
        greeting=assistant.greeting,
        suggested_questions=[str(each) for each in assistant.suggested_questions],
        collections=list(choice.collections),
        models=list(dict.fromkeys([*own, *assistant.allowed_models])),
    )
