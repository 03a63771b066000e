"""Conversations for staff to read beside their evidence, and assistants to configure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Count, OuterRef, Prefetch, Q, Subquery

from chat import evidence
from chat.models import Assistant, Citation, Conversation, Run, RunState
from retrieval.search import SearchSettings, SearchSettingsError

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    # Generic for type checkers only.
    ConversationModelAdmin = admin.ModelAdmin[Conversation]
    AssistantModelAdmin = admin.ModelAdmin[Assistant]
    AssistantModelForm = forms.ModelForm[Assistant]
else:
    ConversationModelAdmin = AssistantModelAdmin = admin.ModelAdmin
    AssistantModelForm = forms.ModelForm


@admin.register(Conversation)
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


class AssistantForm(AssistantModelForm):
    """Suggested questions are written one a line."""

    suggested_questions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 80}),
        help_text="Offered on an empty page, one a line.",
    )

    class Meta:
        model = Assistant
        fields = (
            "name",
            "greeting",
            "suggested_questions",
            "instructions",
            "collections",
            "rewrites",
            "search_settings",
        )

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> Any:
        """Write the list as lines."""
        value = super().get_initial_for_field(field, field_name)
        return "\n".join(value) if isinstance(value, list) else value

    def clean_suggested_questions(self) -> list[str]:
        """Read the lines as a list."""
        lines = self.cleaned_data["suggested_questions"].splitlines()
        return [line.strip() for line in lines if line.strip()]

    def clean_search_settings(self) -> dict[str, Any]:
        """Refuse what no search could be told, naming the field."""
        given = self.cleaned_data["search_settings"]
        chosen: dict[str, Any] = {} if given is None else given
        try:
            SearchSettings.parse(chosen)
        except SearchSettingsError as error:
            raise forms.ValidationError(str(error)) from error
        return chosen


@admin.register(Assistant)
class AssistantAdmin(AssistantModelAdmin):
    """Personas: instructions, collections, search settings."""

    form = AssistantForm
    list_display = ("name", "is_default", "greeting")
    filter_horizontal = ("collections",)
    actions = ("make_default",)

    @admin.action(description="Make it the default assistant", permissions=["change"])
    def make_default(self, request: HttpRequest, queryset: QuerySet[Assistant]) -> None:
        """Let the chosen assistant answer where no other is named; there is one at a time."""
        if queryset.count() != 1:
            self.message_user(request, "Choose exactly one assistant.", level="warning")
            return
        chosen = queryset.get()
        with transaction.atomic():
            Assistant.objects.filter(~Q(pk=chosen.pk), is_default=True).update(is_default=False)
            Assistant.objects.filter(pk=chosen.pk).update(is_default=True)
        self.message_user(request, f"“{chosen}” is the default assistant now.")
