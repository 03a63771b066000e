"""Chunks in the admin, reached from their document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from retrieval.admin_managed import ManagedAdmin
from retrieval.models import Chunk

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    # Generic for type checkers only.
    ChunkModelAdmin = admin.ModelAdmin[Chunk]
else:
    ChunkModelAdmin = admin.ModelAdmin


class ChunkAdmin(ManagedAdmin, ChunkModelAdmin):
    """Every chunk of a document, in order; nothing can be changed."""

    collection_path = "version__document__collection"
    list_display = ("ordinal", "where", "heading", "text_start", "document")
    list_display_links = ("ordinal", "text_start")
    list_select_related = ("version__document",)
    search_fields = ("text",)
    fields = readonly_fields = (
        "document", "ordinal", "heading", "where", "char_start", "char_end", "text",
    )  # fmt: skip
    ordering = ("version", "ordinal")
    show_full_result_count = False
    # Pages link to the chunks of one version.
    extra_lookups = ("version__id__exact",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        """Leave the texts of versions where they are."""
        return super().get_queryset(request).defer("fulltext", "version__text")

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        """Stay out of the index: chunks are reached from their document."""
        return {}

    @admin.display(description="Pages")
    def where(self, chunk: Chunk) -> str:
        """Return the pages it stands on."""
        return pages_of(chunk) or "–"

    @admin.display(description="Under")
    def heading(self, chunk: Chunk) -> str:
        """Return the headings it stands under."""
        return " › ".join(chunk.heading_path) or "–"

    @admin.display(description="Text")
    def text_start(self, chunk: Chunk) -> str:
        """Return the beginning of its text."""
        return chunk.text[:200]

    @admin.display(description="Document")
    def document(self, chunk: Chunk) -> SafeString:
        """Link to its document."""
        document = chunk.version.document
        url = reverse("admin:retrieval_document_change", args=[document.pk])
        return format_html('<a href="{}">{}</a>', url, document)


def pages_of(chunk: Chunk) -> str:
    """Return "3" or "3–4", or nothing where there are no pages."""
    if chunk.page_start is None:
        return ""
    first, last = chunk.page_start, chunk.page_end
    return str(first) if first == last else f"{first}–{last}"
