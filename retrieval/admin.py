"""Documents in the admin: their list, the upload page, the queue, and each one's own page."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Prefetch
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.text import Truncator
from procrastinate.contrib.django.models import ProcrastinateJob

from retrieval import admin_document, admin_queue, admin_stages, admin_upload
from retrieval.admin_actions import DocumentActions
from retrieval.admin_chunks import ChunkAdmin
from retrieval.admin_collections import CollectionAdmin
from retrieval.admin_filters import (
    AgeFilter,
    ErrorClassFilter,
    ErrorFilter,
    LanguageFilter,
    StageFilter,
    TypeFilter,
    newest,
    type_name,
)
from retrieval.admin_managed import ManagedAdmin, ManagedCollectionFilter, managed, managed_versions
from retrieval.admin_spaces import EmbeddingSpaceAdmin
from retrieval.ingestion import retention
from retrieval.models import (
    ENDED,
    Chunk,
    Collection,
    Document,
    DocumentVersion,
    EmbeddingSpace,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

    # Generic for type checkers only.
    DocumentModelAdmin = admin.ModelAdmin[Document]
else:
    DocumentModelAdmin = admin.ModelAdmin


LONGEST_TITLE = 100
# Documents that are named before they are deleted.
LISTED = 100


@admin.register(Document)
class DocumentAdmin(DocumentActions, ManagedAdmin, DocumentModelAdmin):
    """Documents with the state of their newest version; added by uploading."""

    list_display = ("name_of", "state", "collection", "file", "uploaded", "enabled")
    list_filter = (
        StageFilter, ErrorClassFilter, ErrorFilter, ("collection", ManagedCollectionFilter),
        TypeFilter, LanguageFilter, AgeFilter, "enabled",
    )  # fmt: skip
    list_select_related = ("collection",)
    list_per_page = 50
    # Counts beside every filter would take seconds with ten thousand documents.
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("title", "name")
    search_help_text = "Looks in titles and in names of files."
    form = admin_document.DocumentForm

    class Media:
        css = {"all": ("css/admin-documents.css",)}  # noqa: RUF012

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Add each document's newest version, without its text."""
        versions = DocumentVersion.objects.order_by("document_id", "-number")
        newest_ones = versions.distinct("document_id").defer("text", "metadata")
        return (
            super()
            .get_queryset(request)
            .prefetch_related(Prefetch("versions", newest_ones, to_attr="newest_first"))
        )

    def get_urls(self) -> list[URLPattern]:
        """Add the upload page, the queue, and what they ask for."""
        views = (
            ("upload", admin_upload.upload),
            ("stages", admin_stages.stages),
            ("queue", admin_queue.queue),
            ("retry-all", admin_queue.retry_all),
        )
        own = [
            path(
                f"{name}/",
                self.admin_site.admin_view(view),
                {"model_admin": self},
                name=f"retrieval_document_{name.replace('-', '_')}",
            )
            for name, view in views
        ]
        return own + super().get_urls()

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead to the upload page."""
        return redirect("admin:retrieval_document_upload")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the document around the form; offer nothing that would add one without a file."""
        context["show_save_and_add_another"] = False
        context |= admin_document.context(request, context["original"])
        return super().render_change_form(request, context, *args, **kwargs)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Let the rows of unfinished documents follow their progress; offer to retry the failed."""
        context = {
            "active": managed_versions(request)
            .exclude(stage__in=ENDED)
            .filter(document__deleted_at=None)
            .exists(),
            "may_add": self.has_add_permission(request),
            "failed": admin_queue.failed_count(managed(request))
            if self.has_change_permission(request)
            else 0,
        }
        return super().changelist_view(request, (extra_context or {}) | context)

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        """Take a document out of search at once; what is kept of it is a setting."""
        retention.delete(Document.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Take documents out of search at once; what is kept of them is a setting."""
        retention.delete(queryset)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count what goes with the documents instead of listing every chunk."""
        keys = [document.pk for document in objs]
        counts = Counter(
            documents=len(keys),
            versions=DocumentVersion.objects.filter(document__in=keys).count(),
            chunks=Chunk.objects.filter(version__document__in=keys).count(),
        )
        names = [str(document) for document in objs[:LISTED]]
        if len(keys) > LISTED:
            names.append(f"and {len(keys) - LISTED:,} more")
        return names, counts, set(), []

    @admin.display(description="Title", ordering="title")
    def name_of(self, document: Document) -> str:
        """Return the title, cut where it would push the rest out of sight."""
        return Truncator(document.title).chars(LONGEST_TITLE)

    @admin.display(description="Uploaded", ordering="created_at")
    def uploaded(self, document: Document) -> str:
        """Return the day it was first uploaded."""
        return date_format(timezone.localtime(document.created_at), "j M Y")

    @admin.display(description="State", ordering=newest("stage"))
    def state(self, document: Document) -> SafeString | str:
        """Show the newest version's stage in words, with its progress or its error."""
        version = newest_of(document)
        return admin_stages.stage_html(version) if version else "–"

    @admin.display(description="File", ordering=newest("size"))
    def file(self, document: Document) -> str:
        """Return what kind of file it is, and its size."""
        version = newest_of(document)
        if version is None:
            return "–"
        parts = (type_name(version.media_type), filesizeformat(version.size))
        return ", ".join(part for part in parts if part)


def newest_of(document: Any) -> DocumentVersion | None:
    """Return the newest version that the admin's queryset fetched along."""
    return document.newest_first[0] if document.newest_first else None


admin.site.register(Chunk, ChunkAdmin)
admin.site.register(Collection, CollectionAdmin)
admin.site.register(EmbeddingSpace, EmbeddingSpaceAdmin)
# The page of the queue says it in words; this one breaks the Content Security Policy.
admin.site.unregister(ProcrastinateJob)
