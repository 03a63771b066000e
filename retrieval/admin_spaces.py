"""The page of embedding spaces: what is searched, what is being filled, and switching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from retrieval.backends.base import BackendError
from retrieval.ingestion import spaces
from retrieval.ingestion.tasks import begin_filling
from retrieval.models import EmbeddingSpace, SpaceState

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

    # Generic for type checkers only.
    SpaceModelAdmin = admin.ModelAdmin[EmbeddingSpace]
else:
    SpaceModelAdmin = admin.ModelAdmin

LIST = "admin:retrieval_embeddingspace_changelist"


class EmbeddingSpaceAdmin(SpaceModelAdmin):
    """The models that documents are embedded with."""

    list_display = ("model", "dimensions", "searched", "embedded", "indexed", "buttons")
    fields = readonly_fields = (
        "model", "dimensions", "query_prefix", "passage_prefix", "backend", "options", "state",
        "error", "indexed", "configured", "activated_at", "created_at",
    )  # fmt: skip
    ordering = ("pk",)
    actions = None

    class Media:
        css = {"all": ("css/admin-documents.css",)}  # noqa: RUF012

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: the settings, or `manage.py reembed`, say which models there are."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: Django would delete row by row; there is a button for it."""
        return False

    def get_urls(self) -> list[URLPattern]:
        """Add what the buttons do."""
        views = (
            ("switch", require_POST(self.switch)),
            ("cancel", require_POST(self.cancel)),
            ("remove", self.remove),
        )
        own = [
            path(
                f"<int:pk>/{name}/",
                self.admin_site.admin_view(view),
                name=f"retrieval_embeddingspace_{name}",
            )
            for name, view in views
        ]
        return own + super().get_urls()

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Let the page follow a filling."""
        filling = EmbeddingSpace.objects.filter(state=SpaceState.FILLING).exists()
        return super().changelist_view(request, (extra_context or {}) | {"filling": filling})

    @admin.display(description="State", ordering="state")
    def searched(self, space: EmbeddingSpace) -> SafeString:
        """Show the state in words, with what went wrong."""
        return render_to_string("admin/retrieval/embeddingspace/_state.html", {"space": space})

    @admin.display(description="Chunks embedded")
    def embedded(self, space: EmbeddingSpace) -> SafeString:
        """Show how many of the chunks that are searched have a vector in this space."""
        return render_to_string(
            "admin/retrieval/embeddingspace/_progress.html",
            {"progress": spaces.progress(space), "filling": space.state == SpaceState.FILLING},
        )

    @admin.display(description="")
    def buttons(self, space: EmbeddingSpace) -> SafeString:
        """Offer what can be done with the space."""
        return render_to_string(
            "admin/retrieval/embeddingspace/_buttons.html",
            {"space": space, "is_previous": spaces.previous() == space},
        )

    def switch(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Search in a space: at once if it is complete, else as soon as it is filled."""
        self._check(request, "change")
        space = get_object_or_404(EmbeddingSpace, pk=pk)
        try:
            at_once = begin_filling(space)
        except (spaces.SpaceError, BackendError) as error:
            messages.error(request, str(error))
        else:
            text = f"The space {space} is searched now."
            if not at_once:
                text = f"The space {space} is being filled, and searched when it is complete."
            messages.success(request, text)
        return redirect(LIST)

    def cancel(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Fill a space no further."""
        self._check(request, "change")
        space = get_object_or_404(EmbeddingSpace, pk=pk)
        spaces.cancel(space)
        messages.success(request, f"The space {space} is not filled any more.")
        return redirect(LIST)

    def remove(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask whether to delete a space with its vectors, and do it."""
        self._check(request, "delete")
        space = get_object_or_404(EmbeddingSpace, pk=pk)
        if request.method != "POST":
            context = {
                **self.admin_site.each_context(request),
                "title": "Delete an embedding space",
                "opts": self.model._meta,
                "space": space,
                "vectors": space.embeddings.count(),
            }
            return TemplateResponse(request, "admin/retrieval/embeddingspace/remove.html", context)
        try:
            spaces.delete(space)
        except spaces.SpaceError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"The space {space} was deleted.")
        return redirect(LIST)

    def _check(self, request: HttpRequest, permission: str) -> None:
        if not request.user.has_perm(f"retrieval.{permission}_embeddingspace"):
            raise PermissionDenied
