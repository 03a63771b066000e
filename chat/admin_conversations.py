"""Conversations for staff to read beside their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, OuterRef, Prefetch, Subquery

from chat import evidence
from chat.models import Citation, Conversation, Run, RunState

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    # Generic for type checkers only.
    ConversationModelAdmin = admin.ModelAdmin[Conversation]
else:
    ConversationModelAdmin = admin.ModelAdmin


class ConversationAdmin(ConversationModelAdmin):
    """Read-only: what was asked, what was answered, and what each answer rests on."""

    list_display = ("title", "user", "questions", "last_state", "created_at", "updated_at")
    list_filter = ("runs__state", "updated_at", "assistant")
    list_select_related = ("user",)
    search_fields = ("title", "user__username", "messages__text")
    ordering = ("-updated_at",)
    change_form_template = "admin/chat/conversation/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """Add what the list shows of each conversation's runs."""
        newest = Run.objects.filter(conversation=OuterRef("pk")).order_by("-created_at")
        return (
            super()
            .get_queryset(request)
            .annotate(
                question_count=Count("runs", distinct=True),
                newest_state=Subquery(newest.values("state")[:1]),
            )
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

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the conversation as it was read, each answer beside its evidence."""
        found = self.get_object(request, object_id)
        context = {"runs": runs_of(found) if found else (), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let nobody add conversations here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        """Let nobody change what was said."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        """Leave deleting to the owner."""
        return False


def runs_of(conversation: Conversation) -> QuerySet[Run]:
    """Return a conversation's runs, oldest first, with messages and evidence, in few queries."""
    citations = Citation.objects.select_related("chunk", "version__document").defer(
        "chunk__fulltext", "version__text"
    )
    return (
        conversation.runs.select_related("question", "answer")
        .prefetch_related(
            Prefetch("answer__citations", citations),
            Prefetch("candidates", evidence.candidates()),
        )
        .order_by("created_at")
    )
