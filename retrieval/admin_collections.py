"""Collections in the admin: who may see them, who manages them, and how much is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, Q
from django.forms import ModelForm
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from retrieval.admin_managed import let_manage, managed
from retrieval.admin_people import PEOPLE, PeopleChoice, PeopleView
from retrieval.models import Collection, Document, Visibility
from retrieval.models.collections import MANAGE_ALL, PUBLISH

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    # Generic for type checkers only.
    CollectionModelAdmin = admin.ModelAdmin[Collection]
    CollectionModelForm = ModelForm[Collection]
else:
    CollectionModelAdmin = admin.ModelAdmin
    CollectionModelForm = ModelForm

MANAGERS = ("managers", "manager_groups")


class CollectionForm(CollectionModelForm):
    """A collection; being public is offered to who may make it so, and where it is so already."""

    may_publish = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = self.may_publish or self.instance.visibility == Visibility.PUBLIC
        if not offered and "visibility" in self.fields:
            choices = [each for each in Visibility.choices if each[0] != Visibility.PUBLIC]
            self.fields["visibility"].choices = choices  # type: ignore[attr-defined]


class CollectionAdmin(CollectionModelAdmin):
    """Collections: each manager finds their own."""

    form = CollectionForm
    list_display = ("name", "visibility", "documents_ready", "upload_link")
    list_filter = ("visibility",)
    search_fields = ("name", "description")
    fieldsets = (
        (None, {"fields": ("name", "description")}),
        (
            "Who may search it",
            {
                "fields": ("visibility", "readers", "reader_groups"),
                "description": "Managers may search it too, and administrators who may search"
                " every collection. What is changed here counts at once.",
            },
        ),
        (
            "Who looks after it",
            {
                "fields": MANAGERS,
                "description": "Managers add, change and delete its documents and choose its"
                " readers; they need the role “Collection managers” to open these pages. Only"
                " administrators choose managers.",
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        """Keep those whoever asks manages, and count their documents."""
        found = super().get_queryset(request)
        return found.filter(pk__in=managed(request).order_by().values("pk")).annotate(
            total=Count("documents"),
            ready=Count("documents", filter=Q(documents__current_version__isnull=False)),
        )

    def get_urls(self) -> list[URLPattern]:
        """Add the search for people and groups to name."""
        view = self.admin_site.admin_view(PeopleView.as_view(admin_site=self.admin_site))
        return [path("people/", view, name=PEOPLE), *super().get_urls()]

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Say to the form whether a collection may be made public."""
        form: Any = super().get_form(request, *args, **kwargs)
        form.may_publish = request.user.has_perm(PUBLISH)
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Let managers see who manages it; those who manage everything choose."""
        return () if request.user.has_perm(MANAGE_ALL) else MANAGERS

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Look people and groups up while their names are typed."""
        kwargs["widget"] = PeopleChoice(db_field, self.admin_site)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Let who makes a collection manage it."""
        super().save_related(request, form, formsets, change)
        if not change:
            let_manage(request.user, form.instance)

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
