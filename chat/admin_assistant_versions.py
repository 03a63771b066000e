"""An assistant's versions in the admin: who made which, what it changed, and bringing it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST, require_safe

from chat import assistant_versions
from chat.models import Assistant, AssistantVersion

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    # Generic for type checkers only.
    AssistantModelAdmin = admin.ModelAdmin[Assistant]
else:
    AssistantModelAdmin = admin.ModelAdmin

VERSIONS = "chat_assistant_versions"
RESTORE = "chat_assistant_restore"


class VersionsAdmin(AssistantModelAdmin):
    """The page of an assistant's versions."""

    change_form_template = "admin/chat/assistant/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        """Add the page of versions, and what brings one back."""
        page = self.admin_site.admin_view(require_safe(self.versions_view))
        restore = self.admin_site.admin_view(require_POST(self.restore_view))
        return [
            path("<uuid:assistant_id>/versions/", page, name=VERSIONS),
            path("<uuid:assistant_id>/versions/<int:number>/restore/", restore, name=RESTORE),
            *super().get_urls(),
        ]

    def versions_view(self, request: HttpRequest, assistant_id: UUID) -> HttpResponse:
        """List the versions, and show what one has otherwise than another.

        `?from=` and `?to=` are their numbers; without them it is the newest and the one before.
        """
        assistant = self.found(request, assistant_id)
        if not self.has_view_or_change_permission(request, assistant):
            raise PermissionDenied
        versions = list(versions_of(assistant))
        numbers = {version.number: version for version in versions}
        newest = versions[0] if versions else None
        after = numbers.get(number_in(request, "to")) or newest
        before = numbers.get(number_in(request, "from"))
        if before is None and after:
            before = numbers.get(after.number - 1)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": assistant,
            "title": f"Versions of {assistant}",
            "versions": versions,
            "newest": newest,
            "before": before,
            "after": after,
            "differences": (
                assistant_versions.differences(before, after) if before and after else ()
            ),
            "may_restore": self.has_change_permission(request, assistant),
        }
        return render(request, "admin/chat/assistant/versions.html", context)

    def restore_view(self, request: HttpRequest, assistant_id: UUID, number: int) -> HttpResponse:
        """Let the assistant answer as a version of it did."""
        assistant = self.found(request, assistant_id)
        if not self.has_change_permission(request, assistant):
            raise PermissionDenied
        version = assistant.versions.filter(number=number).first()
        if version is None:
            raise Http404
        try:
            made = assistant_versions.restore(version, request.user)  # type: ignore[arg-type]
        except assistant_versions.VersionError as error:
            self.message_user(request, error.message, level="error")
        else:
            self.message_user(request, f"Version {made.number} answers now, as {number} did.")
            self.log_change(request, assistant, f"Restored version {number}.")
        return redirect(reverse(f"admin:{VERSIONS}", args=[assistant.pk]))

    def found(self, request: HttpRequest, assistant_id: UUID) -> Assistant:
        """Return an assistant. Raises Http404."""
        assistant: Assistant | None = self.get_object(request, str(assistant_id))
        if assistant is None:
            raise Http404
        return assistant


def versions_of(assistant: Assistant) -> QuerySet[AssistantVersion]:
    """Return its versions, the newest first, with how many answers each gave."""
    return (
        assistant.versions.select_related("created_by")
        .annotate(answers=Count("runs"))
        .order_by("-number")
    )


def number_in(request: HttpRequest, name: str) -> int:
    """Return a number of the address, 0 where there is none."""
    given: Any = request.GET.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0
