"""Collections for staff, with the number of their documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, Q
from django.urls import reverse
from django.utils.html import format_html

from retrieval.models import Collection, Document

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    # Generic for type checkers only.
    CollectionModelAdmin = admin.ModelAdmin[Collection]
else:
    CollectionModelAdmin = admin.ModelAdmin


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

    def get_list_display(self, request: HttpRequest) -> Any:
        """Offer the upload to those who may upload."""
        if request.user.has_perm("retrieval.add_document"):
            return self.list_display
        return [column for column in self.list_display if column != "upload_link"]

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
        return format_html(
            '<a href="{}?collection={}" aria-label="Upload files to {}">Upload files</a>',
            url, collection.pk, collection,
        )  # fmt: skip

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count what goes with the collections instead of listing every chunk."""
        documents = Document.objects.filter(collection__in=[c.pk for c in objs]).count()
        counts = {"collections": len(objs), "documents": documents}
        missing = set()
        if documents and not request.user.has_perm("retrieval.delete_document"):
            missing.add(Document._meta.verbose_name)
        return [str(collection) for collection in objs], counts, missing, []
