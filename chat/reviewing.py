"""Which conversations of others a reviewer may read, by REVIEW_POLICY."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Exists, OuterRef

from chat.models import Candidate, Citation, Feedback
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import QuerySet

    from chat.models import Conversation

SEE_ALL = "retrieval.see_all_collections"


def is_allowed() -> bool:
    """Whether anybody's conversations may be reviewed at all."""
    return bool(settings.REVIEW_POLICY != "none")


def readable_by(
    user: User | AnonymousUser, conversations: QuerySet[Conversation]
) -> QuerySet[Conversation]:
    """Keep the conversations that the policy lets somebody read who has the permission to.

    By `own_collections` they are those whose answers were given something to read, and nothing
    of which it is not known that it lies in a collection this person may see; by `rated` those that
    have feedback.
    """
    if not is_allowed():
        return conversations.none()
    if settings.REVIEW_POLICY == "rated":
        return conversations.filter(
            Exists(Feedback.objects.filter(message__conversation=OuterRef("pk")))
        )
    if settings.REVIEW_POLICY == "all" or user.has_perm(SEE_ALL):
        return conversations
    visible = Collection.objects.visible_to(user)
    found = Candidate.objects.filter(run__conversation=OuterRef("pk"))
    given = found.filter(index__isnull=False)
    cited = Citation.objects.filter(message__conversation=OuterRef("pk"))
    return conversations.filter(
        Exists(found.filter(chunk__version__document__collection__in=visible)),
        ~Exists(given.exclude(chunk__version__document__collection__in=visible)),
        ~Exists(cited.exclude(version__document__collection__in=visible)),
    )
