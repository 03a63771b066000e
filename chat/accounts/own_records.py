"""What is stored of a person, a record a thing, without secrets and without what is others'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.db.models import Q

from chat.accounts.models import ApiToken
from retrieval.audit.models import AuditEvent
from retrieval.audit.removing import USER
from retrieval.models import Collection, Document
from retrieval.streaming import by_key

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.models import Candidate, Citation, Conversation, Feedback, Message

Record = dict[str, Any]


def profile(user: User) -> Record:
    """Return a person's account."""
    return {
        "id": user.pk,
        "username": user.get_username(),
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "joined_at": user.date_joined,
        "last_signed_in_at": user.last_login,
        "staff": user.is_staff,
        "superuser": user.is_superuser,
        "groups": [group.name for group in user.groups.order_by("name")],
        "email_addresses": list(
            EmailAddress.objects.filter(user=user).values("email", "verified", "primary")
        ),
        "second_factors": list(
            Authenticator.objects.filter(user=user).values("type", "created_at", "last_used_at")
        ),
        "connected_accounts": list(
            SocialAccount.objects.filter(user=user).values(
                "provider", "uid", "date_joined", "last_login", "extra_data"
            )
        ),
    }


def conversation(found: Conversation, messages: Iterable[Message]) -> Record:
    """Return a conversation with all that was said."""
    return {
        "id": found.pk,
        "title": found.title,
        "titled_by": found.titled_by,
        "assistant": found.assistant.name if found.assistant else None,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
        "pinned_at": found.pinned_at,
        "deleted_at": found.deleted_at,
        "messages": [_message(message) for message in messages],
    }


def _message(message: Message) -> Record:
    record: Record = {
        "id": message.pk,
        "role": message.role,
        "text": message.text,
        "created_at": message.created_at,
    }
    run = getattr(message, "run", None)
    if run is not None:
        record["feedback"] = [_feedback(each) for each in message.feedback.all()]
        record["citations"] = [_citation(each) for each in message.citations.all()]
        record["run"] = {
            "id": run.pk,
            "state": run.state,
            "finish_reason": run.finish_reason,
            "error_code": run.error_code,
            "model": run.model,
            "settings": run.settings,
            "searched_for": run.written,
            "usage": run.usage,
            "timings_ms": run.timings,
            "created_at": run.created_at,
            "finished_at": run.finished_at,
            "found": [_candidate(each) for each in run.candidates.all()],
        }
    return record


def _feedback(feedback: Feedback) -> Record:
    fields = ("helpful", "reason", "comment", "created_at", "updated_at")
    return {field: getattr(feedback, field) for field in fields}


def _citation(citation: Citation) -> Record:
    fields = ("index", "title", "page", "quote", "span_start", "span_end")
    return {field: getattr(citation, field) for field in fields}


def _candidate(candidate: Candidate) -> Record:
    fields = ("rank", "index", "title", "page", "snippet", "scores")
    return {field: getattr(candidate, field) for field in fields}


def tokens(user: User) -> Iterator[Record]:
    """Yield a person's API tokens, of which the first characters are known."""
    fields = (
        "name", "start", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at",
        "last_address",
    )  # fmt: skip
    yield from ApiToken.objects.filter(user=user).values(*fields)


def sessions(user: User) -> Iterator[Record]:
    """Yield where a person is signed in; not the keys, with which anybody would be."""
    fields = ("created_at", "last_seen_at", "ip", "user_agent")
    yield from UserSession.objects.filter(user=user).values(*fields)


def uploads(user: User) -> Iterator[Record]:
    """Yield the documents a person uploaded; not where to, if they may not see that any more."""
    visible = set(Collection.objects.visible_to(user).values_list("pk", flat=True))
    own = Document.with_deleted.filter(uploaded_by=user).select_related("collection")
    for document in chain.from_iterable(by_key(own)):
        seen = document.collection_id in visible
        yield {
            "id": document.pk,
            "name": document.name,
            "title": document.title if seen else None,
            "collection": document.collection.name if seen else None,
            "created_at": document.created_at,
            "deleted_at": document.deleted_at,
        }


def events(user: User) -> Iterator[Record]:
    """Yield what a person did, and what others did with their data; who these are is not said."""
    about = Q(target_type=USER, target_id=str(user.pk)) | Q(
        action="conversation.opened", details__owner=user.pk
    )
    found = AuditEvent.objects.filter(Q(actor_id=user.pk) | about)
    for event in chain.from_iterable(by_key(found)):
        own = event.actor_id == user.pk
        yield {
            "at": event.at,
            "action": event.action,
            "by": "you" if own else "somebody else",
            "target": {"type": event.target_type, "id": event.target_id, "name": event.target_name},
            "address": event.address if own else None,
            "via": event.via,
            "details": event.details if own else {},
        }
