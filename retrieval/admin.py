"""Documents, their versions and chunks, collections and embedding spaces for staff."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, OuterRef, Prefetch, Q, Subquery
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join

from retrieval import admin_upload
from retrieval.admin_chunks import ChunkAdmin
from retrieval.admin_filters import ErrorFilter, StageFilter
from retrieval.admin_spaces import EmbeddingSpaceAdmin
from retrieval.ingestion.metadata import MetadataError, checked
from retrieval.ingestion.pipeline import ENDED
from retrieval.ingestion.retrying import retry
from retrieval.models import (
    Chunk,
    Collection,
    Document,
    DocumentVersion,
    EmbeddingSpace,
    Stage,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

    # Generic for type checkers only.
    CollectionModelAdmin = admin.ModelAdmin[Collection]
    DocumentModelAdmin = admin.ModelAdmin[Document]
    DocumentModelForm = forms.ModelForm[Document]
    VersionTabularInline = admin.TabularInline[DocumentVersion, Document]
else:
    CollectionModelAdmin = DocumentModelAdmin = admin.ModelAdmin
    VersionTabularInline = admin.TabularInline
    DocumentModelForm = forms.ModelForm

PREVIEW_CHARACTERS = 20_000
PREVIEW_CHUNKS = 25


@admin.register(Collection)
class CollectionAdmin(CollectionModelAdmin):
    """Collections with the number of their documents."""

    list_display = ("name", "visibility", "documents_ready", "upload_link")
    search_fields = ("name", "description")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        """Count the documents."""
        return (
            super()
            .get_queryset(request)
            .annotate(
                total=Count("documents"),
                ready=Count("documents", filter=Q(documents__current_version__isnull=False)),
            )
        )

    @admin.display(description="Documents", ordering="total")
    def documents_ready(self, collection: Any) -> str:
        """How many there are, and how many of them can be searched."""
        if collection.ready == collection.total:
            return str(collection.total)
        return f"{collection.total} ({collection.ready} ready)"

    @admin.display(description="")
    def upload_link(self, collection: Collection) -> SafeString:
        """Link to the upload page with this collection chosen."""
        url = reverse("admin:retrieval_document_upload")
        return format_html('<a href="{}?collection={}">Upload files</a>', url, collection.pk)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count what goes with the collections instead of listing every chunk."""
        documents = Document.objects.filter(collection__in=[c.pk for c in objs]).count()
        counts = {"collections": len(objs), "documents": documents}
        return [str(collection) for collection in objs], counts, set(), []


class VersionInline(VersionTabularInline):
    """The versions of a document, newest first."""

    model = DocumentVersion
    fk_name = "document"
    fields = readonly_fields = (
        "number", "stage", "error_message", "media_type", "language", "bytes", "page_count",
        "chunk_count", "created_at", "finished_at",
    )  # fmt: skip
    extra = 0
    can_delete = False
    show_change_link = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[DocumentVersion]:
        """Leave the text where it is."""
        return super().get_queryset(request).defer("text")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: a version is made by uploading."""
        return False

    @admin.display(description="Size")
    def bytes(self, version: DocumentVersion) -> str:
        """Return the size of the file."""
        return filesizeformat(version.size)


class DocumentForm(DocumentModelForm):
    """A document, with its metadata checked."""

    class Meta:
        model = Document
        fields = ("title", "collection", "enabled", "metadata")
        help_texts = MappingProxyType(
            {
                "metadata": "For filters, as a JSON object. It is over what the file says; null"
                " takes something away that the file says."
            }
        )

    def clean_metadata(self) -> dict[str, Any]:
        """Return the metadata with its times in one form; nothing is an empty object."""
        try:
            return checked(self.cleaned_data["metadata"] or {})
        except MetadataError as error:
            raise forms.ValidationError(str(error)) from error


@admin.register(Document)
class DocumentAdmin(DocumentModelAdmin):
    """Documents with the state of their newest version; added by uploading."""

    list_display = (
        "title",
        "collection",
        "state",
        "size",
        "created_at",
        "enabled",
    )
    list_filter = ("collection", StageFilter, "enabled", "current_version__language", ErrorFilter)
    list_select_related = ("collection", "current_version")
    list_per_page = 50
    search_fields = ("title", "name")
    date_hierarchy = "created_at"
    actions = ("retry_failed", "enable", "disable")
    form = DocumentForm
    fields = (
        "title", "name", "collection", "enabled", "metadata", "file_says", "state", "text",
        "chunk_list",
    )  # fmt: skip
    readonly_fields = ("name", "file_says", "state", "text", "chunk_list")
    inlines = (VersionInline,)

    class Media:
        css = {"all": ("css/admin-documents.css",)}  # noqa: RUF012

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Add each document's newest version, without its text."""
        newest = DocumentVersion.objects.filter(document=OuterRef("pk")).order_by("-number")
        versions = DocumentVersion.objects.defer("text", "metadata").order_by("-number")
        return (
            super()
            .get_queryset(request)
            .annotate(
                newest_stage=Subquery(newest.values("stage")[:1]),
                newest_error=Subquery(newest.values("error_code")[:1]),
            )
            .defer("current_version__text")
            .prefetch_related(Prefetch("versions", versions, to_attr="newest_first"))
        )

    def get_urls(self) -> list[URLPattern]:
        """Add the upload page and what it polls."""
        views = (("upload", admin_upload.upload), ("stages", admin_upload.stages))
        own = [
            path(
                f"{name}/",
                self.admin_site.admin_view(view),
                {"model_admin": self},
                name=f"retrieval_document_{name}",
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
        """Offer nothing that would add a document without a file."""
        context["show_save_and_add_another"] = False
        return super().render_change_form(request, context, *args, **kwargs)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Let the rows of unfinished documents follow their progress."""
        active = DocumentVersion.objects.exclude(stage__in=ENDED).exists()
        return super().changelist_view(request, (extra_context or {}) | {"active": active})

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count what goes with the documents instead of listing every chunk."""
        keys = [document.pk for document in objs]
        counts = Counter(
            documents=len(keys),
            versions=DocumentVersion.objects.filter(document__in=keys).count(),
            chunks=Chunk.objects.filter(version__document__in=keys).count(),
        )
        return [str(document) for document in objs], counts, set(), []

    @admin.display(description="State", ordering="newest_stage")
    def state(self, document: Document) -> SafeString | str:
        """Show the newest version's stage in words, with its progress or its error."""
        version = newest(document)
        return admin_upload.stage_html(version) if version else "–"

    @admin.display(description="Size")
    def size(self, document: Document) -> str:
        """Return the size of the file."""
        version = newest(document)
        return filesizeformat(version.size) if version else "–"

    @admin.display(description="The file says")
    def file_says(self, document: Document) -> SafeString | str:
        """Show the metadata that the file brought along."""
        version = document.current_version
        if version is None or not version.metadata:
            return "–"
        rows = sorted(version.metadata.items())
        return format_html(
            '<dl class="document-metadata">{}</dl>',
            format_html_join("", "<dt>{}</dt><dd>{}</dd>", ((key, said(v)) for key, v in rows)),
        )

    @admin.display(description="Text")
    def text(self, document: Document) -> SafeString | str:
        """Show the beginning of the extracted text."""
        version = document.current_version
        if version is None:
            return "–"
        text = version.text
        rest = len(text) - PREVIEW_CHARACTERS
        return format_html(
            '<pre class="document-text" tabindex="0">{}</pre>{}',
            text[:PREVIEW_CHARACTERS],
            f"… and {rest:,} characters more" if rest > 0 else "",
        )

    @admin.display(description="Chunks")
    def chunk_list(self, document: Document) -> SafeString | str:
        """Show the first chunks with their pages and headings, and link to all."""
        if document.current_version is None:
            return "–"
        chunks = document.current_version.chunks.defer("fulltext")[:PREVIEW_CHUNKS]
        return render_to_string(
            "admin/retrieval/document/_chunks.html",
            {"chunks": chunks, "version": document.current_version},
        )

    @admin.action(description="Retry failed documents", permissions=["change"])
    def retry_failed(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Queue the newest version of each document again, if it failed."""
        failed = [v for document in queryset if (v := newest(document)) and v.stage == Stage.FAILED]
        for version in failed:
            retry(version)
        self.message_user(request, f"{len(failed)} queued again.", messages.SUCCESS)

    @admin.action(description="Enable: let them be searched", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Let documents be searched."""
        self._set_enabled(request, queryset, enabled=True)

    @admin.action(description="Disable: take them out of search", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Take documents out of search, at once."""
        self._set_enabled(request, queryset, enabled=False)

    def _set_enabled(
        self, request: HttpRequest, queryset: QuerySet[Document], *, enabled: bool
    ) -> None:
        keys = [document.pk for document in queryset]
        count = Document.objects.filter(pk__in=keys).update(enabled=enabled)
        self.message_user(
            request, f"{count} {'enabled' if enabled else 'disabled'}.", messages.SUCCESS
        )


def said(value: object) -> str:
    """Return a value of metadata for reading."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def newest(document: Any) -> DocumentVersion | None:
    """Return the newest version that the admin's queryset fetched along."""
    return document.newest_first[0] if document.newest_first else None


admin.site.register(Chunk, ChunkAdmin)
admin.site.register(EmbeddingSpace, EmbeddingSpaceAdmin)
