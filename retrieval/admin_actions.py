"""What can be done with documents: each action works on those chosen, and says what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from retrieval.admin_managed import managed
from retrieval.admin_stages import valid_keys
from retrieval.audit.recording import Target, record
from retrieval.ingestion import retrying
from retrieval.models import Collection, Document, DocumentVersion

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest

    DocumentModelAdmin = admin.ModelAdmin[Document]
else:
    DocumentModelAdmin = object

# Names that one message tells.
NAMED = 5


class MoveForm(forms.Form):
    """Where documents are moved to: one of the collections somebody manages."""

    target = forms.ModelChoiceField(Collection.objects.none(), label="Collection")

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request.POST if "target" in request.POST else None)
        self.fields["target"].queryset = managed(request)  # type: ignore[attr-defined]


class DocumentActions(DocumentModelAdmin):
    """The actions of the list and of the buttons on a document's own page."""

    actions = ("retry_failed", "reingest", "enable", "disable", "move")

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *args: Any, **kwargs: Any
    ) -> HttpResponse | None:
        """Lead back to the document whose own page has the button."""
        response = super().response_action(request, queryset, *args, **kwargs)
        if response is None or response.status_code != 302 or "from_page" not in request.POST:
            return response
        keys = valid_keys(request.POST.getlist(ACTION_CHECKBOX_NAME))
        return redirect("admin:retrieval_document_change", keys[0]) if keys else response

    @admin.action(description="Retry those that failed", permissions=["change"])
    def retry_failed(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Queue the newest version of each document again, if it failed."""
        versions = DocumentVersion.objects.filter(document__in=queryset.order_by().values("pk"))
        count = retrying.retry_failed(versions)
        self._told(request, f"{_documents(count)} queued again.", count)

    @admin.action(description="Re-ingest: read the files again", permissions=["change"])
    def reingest(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Read the newest file of each document again; what is searched stays until then."""
        count = sum(retrying.reingest(document) is not None for document in queryset)
        self._told(request, f"{_documents(count)} queued to be read again.", count)

    @admin.action(description="Enable: let them be searched", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Let documents be searched."""
        self._set_enabled(request, queryset, enabled=True)

    @admin.action(description="Disable: take them out of search", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Take documents out of search, at once."""
        self._set_enabled(request, queryset, enabled=False)

    @admin.action(description="Move to another collection", permissions=["change"])
    def move(self, request: HttpRequest, queryset: QuerySet[Document]) -> HttpResponse | None:
        """Ask for a collection, and move documents there; their chunks and vectors stay theirs."""
        form = MoveForm(request)
        if not form.is_valid():
            context = {
                **self.admin_site.each_context(request),
                "title": "Move documents",
                "opts": self.model._meta,
                "form": form,
                "count": queryset.count(),
                "documents": queryset[:NAMED],
                "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
                "across": request.POST.get("select_across", "0"),
            }
            return TemplateResponse(request, "admin/retrieval/document/move.html", context)
        self._move(request, queryset, form.cleaned_data["target"])
        return None

    def _move(self, request: HttpRequest, queryset: QuerySet[Document], target: Collection) -> None:
        keys = queryset.exclude(collection=target).order_by().values("pk")
        there = Document.objects.filter(collection=target).values("name")
        going = Document.objects.filter(pk__in=keys)
        taken = list(going.filter(name__in=there).values_list("name", flat=True)[: NAMED + 1])
        twice = _twice(going)
        try:
            with transaction.atomic():
                free = going.exclude(name__in=there).exclude(pk__in=twice)
                moved = list(free.values_list("pk", flat=True))
                count = Document.objects.filter(pk__in=moved).update(collection=target)
                record_all("documents.moved", moved, to=str(target.pk))
        except IntegrityError:
            self.message_user(
                request, "Something was uploaded there meanwhile. Try it again.", messages.ERROR
            )
            return
        self._told(request, f"{_documents(count)} moved to {target}.", count)
        if taken or twice:
            named = ", ".join(f"“{name}”" for name in taken[:NAMED])
            text = f"Not moved, because {target} would have two of one name"
            self.message_user(
                request, f"{text}: {named}." if named else f"{text}.", messages.WARNING
            )

    def _set_enabled(
        self, request: HttpRequest, queryset: QuerySet[Document], *, enabled: bool
    ) -> None:
        keys = list(queryset.order_by().values_list("pk", flat=True))
        count = Document.objects.filter(pk__in=keys).update(enabled=enabled)
        record_all("documents.enabled" if enabled else "documents.disabled", keys)
        self._told(request, f"{_documents(count)} {'enabled' if enabled else 'disabled'}.", count)

    def _told(self, request: HttpRequest, text: str, count: int) -> None:
        self.message_user(request, text, messages.SUCCESS if count else messages.WARNING)


def record_all(action: str, keys: list[UUID], **details: Any) -> None:
    """Record what was done with several documents, if any."""
    if keys:
        about = Target("retrieval.document")
        record(None, action, about, keys=[str(key) for key in keys], **details)


def _twice(going: QuerySet[Document]) -> list[Any]:
    """Return those that come from several collections under one name, but for the first."""
    first = going.order_by("name", "created_at").distinct("name").values("pk")
    return list(going.exclude(pk__in=first).values_list("pk", flat=True))


def _documents(count: int) -> str:
    return "1 document" if count == 1 else f"{count:,} documents"
