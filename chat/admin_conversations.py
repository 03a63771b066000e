"""Conversations for staff to read beside their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, Exists, OuterRef, Prefetch, Subquery
from django.http import Http404
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat import evidence, reviewing
from chat.models import Citation, Conversation, Feedback, Reason, Run, RunState
from chat.redaction import redact_messages
from retrieval.audit.recording import Target, record

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.utils.functional import _StrPromise as StrPromise

    # Generic for type checkers only.
    ConversationModelAdmin = admin.ModelAdmin[Conversation]
else:
    ConversationModelAdmin = admin.ModelAdmin


class RatedFilter(admin.SimpleListFilter):
    """Conversations by what people said of their answers."""

    title = _("feedback")
    parameter_name = "feedback"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, StrPromise]]:
        """Offer the thumbs, the reasons against an answer, and none at all."""
        thumbs = [("helpful", _("Helpful")), ("unhelpful", _("Not helpful"))]
        return [*thumbs, *Reason.choices, ("none", _("None"))]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Conversation]
    ) -> QuerySet[Conversation]:
        """Keep the conversations that have what was chosen."""
        given = Feedback.objects.filter(message__conversation=OuterRef("pk"))
        match self.value():
            case None:
                return queryset
            case "none":
                return queryset.filter(~Exists(given))
            case "helpful" | "unhelpful" as thumb:
                return queryset.filter(Exists(given.filter(helpful=thumb == "helpful")))
            case reason:
                return queryset.filter(Exists(given.filter(reason=reason)))


class ConversationAdmin(ConversationModelAdmin):
    """Read-only: what was asked, what was answered, and what each answer rests on.

    What is read here is recorded in the audit log: it is other people's.
    """

    list_display = (
        "title",
        "user",
        "questions",
        "last_state",
        "feedback",
        "created_at",
        "updated_at",
    )
    list_filter = (RatedFilter, "runs__state", "updated_at", "assistant")
    list_select_related = ("user",)
    search_fields = ("title", "user__username", "messages__text")
    ordering = ("-updated_at",)
    change_form_template = "admin/chat/conversation/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """Keep what the policy lets one read, with what the list shows of the runs."""
        newest = Run.objects.filter(conversation=OuterRef("pk")).order_by("-created_at")
        return reviewing.readable_by(request.user, super().get_queryset(request)).annotate(
            question_count=Count("runs", distinct=True),
            newest_state=Subquery(newest.values("state")[:1]),
            helpful_count=_feedback_count(helpful=True),
            unhelpful_count=_feedback_count(helpful=False),
        )

    @admin.display(description="Questions", ordering="question_count")
    def questions(self, conversation: Conversation) -> int:
        """How many questions were asked."""
        count: int = getattr(conversation, "question_count", 0)
        return count

    @admin.display(description="Last answer", ordering="newest_state", empty_value="–")
    def last_state(self, conversation: Conversation) -> str | None:
        """How the newest run ended."""
        state = getattr(conversation, "newest_state", None)
        return str(RunState(state).label) if state else None

    @admin.display(description=_("Feedback"), ordering="unhelpful_count", empty_value="–")
    def feedback(self, conversation: Conversation) -> str | None:
        """How many answers helped, and how many did not."""
        helpful = getattr(conversation, "helpful_count", None) or 0
        unhelpful = getattr(conversation, "unhelpful_count", 0)
        said = [
            ngettext("%d helpful", "%d helpful", helpful) % helpful if helpful else "",
            ngettext("%d not helpful", "%d not helpful", unhelpful) % unhelpful
            if unhelpful
            else "",
        ]
        return ", ".join(filter(None, said)) or None

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list, whose titles are what people asked."""
        response = super().changelist_view(request, extra_context)
        changelist = (getattr(response, "context_data", None) or {}).get("cl")
        if changelist is not None:
            action = "conversations.searched" if changelist.query else "conversations.listed"
            filters = sorted(set(request.GET) - {"q"})
            found = changelist.result_count
            record(None, action, Target("chat.conversation"), found=found, filters=filters)
        return response

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the conversation as it was read, each answer beside its evidence."""
        found = self.get_object(request, object_id)
        if found and self.has_view_permission(request, found):
            record(None, "conversation.opened", found, owner=found.user_id)
            extra_context = {"runs": runs_of(found, request.user), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Say that there is none: nothing changes a conversation here."""
        raise Http404

    def has_view_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        """Let reviewers in if the policy does: superusers too follow it."""
        return reviewing.is_allowed() and super().has_view_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let nobody add conversations here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        """Let nobody change what was said."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        """Leave deleting to the owner."""
        return False


def _feedback_count(*, helpful: bool) -> Subquery:
    """Return how often a conversation's answers helped, or did not, as SQL."""
    given = Feedback.objects.filter(message__conversation=OuterRef("pk"), helpful=helpful)
    counts = given.order_by().values("message__conversation").annotate(count=Count("pk"))
    return Subquery(counts.values("count"))


def runs_of(conversation: Conversation, user: User | AnonymousUser) -> list[Run]:
    """Return a conversation's runs, oldest first, with messages and evidence, in few queries.

    Evidence of collections that `user` may not see is blank, and answers that quote it are.
    """
    citations = Citation.objects.select_related("chunk", "version__document").defer(
        "chunk__fulltext", "version__text"
    )
    runs = list(
        conversation.runs.select_related("question", "answer", "assistant_version")
        .prefetch_related(
            Prefetch("answer__citations", citations),
            Prefetch("answer__feedback", Feedback.objects.select_related("user")),
            Prefetch("candidates", evidence.candidates()),
        )
        .order_by("created_at")
    )
    redact_messages([run.answer for run in runs], user)
    return runs
