"""Assistants for administrators to configure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Q

from chat.models import Assistant
from retrieval.search import SearchSettings, SearchSettingsError

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    # Generic for type checkers only.
    AssistantModelAdmin = admin.ModelAdmin[Assistant]
    AssistantModelForm = forms.ModelForm[Assistant]
else:
    AssistantModelAdmin = admin.ModelAdmin
    AssistantModelForm = forms.ModelForm


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
