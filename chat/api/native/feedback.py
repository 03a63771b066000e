"""What a person says of an answer."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Field, Router
from ninja.responses import Status
from pydantic import StringConstraints

from chat.accounts.models import Scope
from chat.api.credentials import Request
from chat.api.native.answers import FeedbackOut, MessageOut, feedback_out, messages
from chat.api.native.callers import Caller
from chat.api.native.parsing import Body
from chat.client_messages import Storable
from chat.feedback import give, own_answers
from chat.models import Feedback, Message, Reason
from chat.models.feedback import COMMENT_MAX_CHARS

router = Router(tags=["messages"], auth=Caller(Scope.ASK))

Comment = Annotated[str, StringConstraints(max_length=COMMENT_MAX_CHARS), Storable]


class FeedbackIn(Body):
    """Whether an answer helped, and if not, why."""

    helpful: bool
    reason: Reason | None = Field(None, description="Dropped where the answer helped.")
    comment: Comment = ""


@router.get(
    "{uuid:message_id}",
    response=MessageOut,
    auth=Caller(Scope.CONVERSATIONS),
    operation_id="getMessage",
    summary="One message",
)
def get_message(request: Request, message_id: UUID) -> MessageOut:
    """Return a question or an answer of yours, with what it rests on."""
    own = {"conversation__user": request.user, "conversation__deleted_at": None}
    found = messages(request.user, pk=message_id, **own)
    if not found:
        raise Http404
    return found[0]


@router.put(
    "{uuid:message_id}/feedback",
    response=FeedbackOut,
    operation_id="putFeedback",
    summary="Say whether an answer helped",
)
def put_feedback(request: Request, message_id: UUID, said: FeedbackIn) -> FeedbackOut:
    """Say it, in place of what you said before."""
    answer = _own(request, message_id)
    return feedback_out(
        give(
            answer,
            request.user,
            helpful=said.helpful,
            reason=said.reason or "",
            comment=said.comment,
        )
    )


@router.delete(
    "{uuid:message_id}/feedback",
    response={204: None},
    operation_id="deleteFeedback",
    summary="Take feedback back",
)
def delete_feedback(request: Request, message_id: UUID) -> Status[None]:
    """Take back what you said of an answer, if anything."""
    Feedback.objects.filter(message=_own(request, message_id), user=request.user).delete()
    return Status(204, None)


def _own(request: Request, key: UUID) -> Message:
    return get_object_or_404(own_answers(request.user), pk=key)
