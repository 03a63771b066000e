"""How long conversations, those of guests, the details of runs, and sessions are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from chat.accounts.models import Guest, RememberedRequest
from chat.models import ACTIVE, Candidate, Citation, Conversation, Run, RunFrame
from retrieval.expiry import Kind, days

if TYPE_CHECKING:
    from datetime import datetime

# For so long a conversation that was deleted can be brought back.
UNDO = timedelta(minutes=1)


def _conversations(until: datetime) -> QuerySet[Any]:
    """Return conversations of people in which nothing was said since."""
    active = Run.objects.filter(conversation=OuterRef("pk"), state__in=ACTIVE)
    old = Conversation.objects.filter(~Exists(active), updated_at__lt=until)
    return old.exclude(user__in=Guest.objects.values("pk")).order_by("updated_at")


def _deleted_conversations(until: datetime) -> QuerySet[Any]:
    """Return conversations whose deletion cannot be undone any more."""
    return Conversation.with_deleted.filter(deleted_at__lt=until).order_by("deleted_at")


def _undone_until() -> datetime:
    return timezone.now() - UNDO


def _guests(until: datetime) -> QuerySet[Any]:
    """Return guests who said nothing since; their conversations go with them."""
    since = Conversation.objects.filter(user=OuterRef("pk"), updated_at__gte=until)
    active = Run.objects.filter(user=OuterRef("pk"), state__in=ACTIVE)
    old = Guest.objects.filter(~Exists(since), ~Exists(active), date_joined__lt=until)
    return old.order_by("pk")


def _run_details(until: datetime) -> QuerySet[Any]:
    """Return runs of which more is known than what was asked, answered and cited."""
    detailed = (
        ~Q(timings={})
        | ~Q(written=[])
        | Exists(_uncited(Candidate.objects.filter(run=OuterRef("pk"))))
    )
    ended = Run.objects.filter(finished_at__lt=until).exclude(state__in=ACTIVE)
    return ended.filter(detailed).order_by("finished_at")


def _remove_details(runs: QuerySet[Any]) -> int:
    keys = list(runs.values_list("pk", flat=True))
    _uncited(Candidate.objects.filter(run__in=keys)).delete()
    RunFrame.objects.filter(run__in=keys).delete()
    return Run.objects.filter(pk__in=keys).update(timings={}, written=[])


def _uncited(candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
    cited = Citation.objects.filter(message__run=OuterRef("run"), index=OuterRef("index"))
    return candidates.filter(~Exists(cited))


def _sessions(until: datetime) -> QuerySet[Any]:
    return Session.objects.filter(expire_date__lt=until).order_by("expire_date")


def _left_sessions(_: datetime) -> QuerySet[Any]:
    """Return what is noted of sessions, such as addresses, that are no more."""
    living = Session.objects.filter(session_key=OuterRef("session_key"))
    left: QuerySet[Any] = UserSession.objects.filter(~Exists(living)).order_by("pk")
    return left


def _remembered_until() -> datetime:
    return timezone.now() - RememberedRequest.KEPT


def _remembered_requests(until: datetime) -> QuerySet[Any]:
    """Return requests of programs that are not answered alike any more when they are repeated."""
    return RememberedRequest.objects.filter(created_at__lt=until).order_by("created_at")


KINDS = (
    Kind("conversations", days("CONVERSATION_DAYS"), _conversations),
    Kind("deleted conversations", _undone_until, _deleted_conversations),
    Kind("guests", days("GUEST_DAYS"), _guests),
    Kind("details of runs", days("RUN_DETAILS_DAYS"), _run_details, _remove_details),
    Kind("expired sessions", timezone.now, _sessions),
    Kind("notes of ended sessions", timezone.now, _left_sessions),
    Kind("remembered requests", _remembered_until, _remembered_requests),
)
