"""Filters of the list of documents, by what their newest versions are."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import get_language_info

from retrieval.admin_managed import managed_versions
from retrieval.models import ENDED, DocumentVersion, ErrorClass, Stage

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

# What people call the types of files; others are named by their media type.
TYPES = {
    "application/pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.oasis.opendocument.text": "OpenDocument text",
    "application/vnd.oasis.opendocument.spreadsheet": "OpenDocument spreadsheet",
    "application/vnd.oasis.opendocument.presentation": "OpenDocument presentation",
    "application/msword": "Word (old)",
    "application/vnd.ms-powerpoint": "PowerPoint (old)",
    "application/vnd.ms-excel": "Excel (old)",
    "application/vnd.ms-outlook": "Outlook mail",
    "application/epub+zip": "EPUB",
    "application/rtf": "RTF",
    "application/json": "JSON",
    "application/x-ipynb+json": "Notebook",
    "application/x-latex": "LaTeX",
    "message/rfc822": "Mail",
    "text/csv": "CSV",
    "text/html": "HTML",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    "text/tab-separated-values": "TSV",
    "text/vtt": "Subtitles",
    "text/x-org": "Org",
    "text/x-rst": "reStructuredText",
}  # fmt: skip
# Languages that Django has no name for.
LANGUAGES = {
    "gu": "Gujarati", "la": "Latin", "or": "Odia", "si": "Sinhala", "yi": "Yiddish",
    "zh": "Chinese",
}  # fmt: skip
AGES = {
    "hour": ("In the last hour", timedelta(hours=1)),
    "day": ("In the last 24 hours", timedelta(days=1)),
    "week": ("In the last 7 days", timedelta(days=7)),
    "month": ("In the last 30 days", timedelta(days=30)),
    "year": ("In the last year", timedelta(days=365)),
}
OLDER = "older"


def newest(field: str) -> Subquery:
    """Return a field of a document's newest version, for querysets of documents."""
    versions = DocumentVersion.objects.filter(document=OuterRef("pk")).order_by("-number")
    return Subquery(versions.values(field)[:1])


class _NewestFilter(admin.SimpleListFilter):
    """By a field of the newest version."""

    field = ""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep documents whose newest version has the chosen value."""
        if self.value() is None:
            return queryset
        name = f"newest_{self.field}"
        found: QuerySet[Any] = queryset.alias(**{name: newest(self.field)})
        return found.filter(**{name: self.value()})

    def occurring(self, request: HttpRequest) -> list[str]:
        """Return the values there are in what whoever asks manages, but for the empty one."""
        versions = managed_versions(request).order_by()
        values = versions.values_list(self.field, flat=True).distinct()
        return sorted(value for value in values if value)


class StageFilter(admin.SimpleListFilter):
    """By how far the newest version is."""

    title = "status"
    parameter_name = "stage"
    UNDER_WAY = "under-way"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer all that goes on together, and every stage, by its words."""
        stages = [(str(value), str(label)) for value, label in Stage.choices]
        return [(self.UNDER_WAY, "Waiting or under way"), *stages]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep documents whose newest version is in the chosen stage."""
        chosen = self.value()
        if not chosen:
            return queryset
        queryset = queryset.alias(newest_stage=newest("stage"))
        if chosen == self.UNDER_WAY:
            return queryset.exclude(newest_stage__in=ENDED)
        return queryset.filter(newest_stage=chosen)


class ErrorClassFilter(_NewestFilter):
    """By what the error of the newest version lies in, whether it failed or is tried again."""

    title = "kind of error"
    parameter_name = "error_class"
    field = "error_class"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer every class, by its words."""
        return [(str(value), str(label)) for value, label in ErrorClass.choices]


class ErrorFilter(_NewestFilter):
    """By what the error of the newest version is, whether it failed or is tried again."""

    title = "error"
    parameter_name = "error"
    field = "error_code"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the codes that occur."""
        return [(code, error_name(code)) for code in self.occurring(request)]


class TypeFilter(_NewestFilter):
    """By what kind of file it is, as found from its bytes."""

    title = "type"
    parameter_name = "type"
    field = "media_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the types that occur."""
        return sorted(
            ((each, type_name(each)) for each in self.occurring(request)), key=lambda t: t[1]
        )


class LanguageFilter(_NewestFilter):
    """By the language of the text."""

    title = "language"
    parameter_name = "language"
    field = "language"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the languages that occur."""
        named = ((code, language_name(code)) for code in self.occurring(request))
        return sorted(named, key=lambda language: language[1])


class AgeFilter(admin.SimpleListFilter):
    """By when the document was first uploaded."""

    title = "age"
    parameter_name = "age"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer spans of time up to now, and what is older than them all."""
        return [*((key, text) for key, (text, _) in AGES.items()), (OLDER, "Over a year ago")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep documents of the chosen age."""
        chosen = self.value()
        if chosen in AGES:
            return queryset.filter(created_at__gte=timezone.now() - AGES[chosen][1])
        if chosen == OLDER:
            return queryset.filter(created_at__lt=timezone.now() - AGES["year"][1])
        return queryset


def error_name(code: str) -> str:
    """Return an error's code for reading."""
    return code.replace("-", " ").replace("_", " ").capitalize()


def type_name(media_type: str) -> str:
    """Return what people call a type of file."""
    return TYPES.get(media_type, media_type)


def language_name(code: str) -> str:
    """Return the name of a language, in English."""
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        return LANGUAGES.get(code, code)
