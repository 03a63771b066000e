"""Filters of the list of documents, by the state of the newest version.

They rely on `newest_stage` and `newest_error`, which the list's queryset adds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from retrieval.models import DocumentVersion, Stage

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


class StageFilter(admin.SimpleListFilter):
    """By how far the newest version is."""

    title = "stage"
    parameter_name = "stage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer every stage, by its words."""
        return [(str(value), str(label)) for value, label in Stage.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep documents whose newest version is in the chosen stage."""
        return queryset.filter(newest_stage=self.value()) if self.value() else queryset


class ErrorFilter(admin.SimpleListFilter):
    """By why the newest version failed."""

    title = "error"
    parameter_name = "error"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the codes that occur."""
        codes = DocumentVersion.objects.filter(stage=Stage.FAILED).values_list("error_code")
        return [(code, code) for (code,) in codes.distinct().order_by("error_code")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep documents that failed for the chosen reason."""
        if not self.value():
            return queryset
        return queryset.filter(newest_stage=Stage.FAILED, newest_error=self.value())
