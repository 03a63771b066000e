"""The audit log, for administrators to read, search and save."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.http import StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils import timezone
from django.utils.formats import date_format

from retrieval.audit.csv_cells import cell
from retrieval.audit.models import AuditEvent
from retrieval.audit.recording import Target, record
from retrieval.streaming import by_key, in_steps

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponseBase
    from django.urls import URLPattern

    # Generic for type checkers only.
    AuditEventModelAdmin = admin.ModelAdmin[AuditEvent]
else:
    AuditEventModelAdmin = admin.ModelAdmin

COLUMNS = (
    "id", "at", "actor_id", "actor_name", "action", "target_type", "target_id", "target_name",
    "address", "via", "request_id", "details",
)  # fmt: skip


class Line:
    """A file that gives back what is written to it, a line at a time."""

    def write(self, line: str) -> bytes:
        """Return the line as it is sent."""
        return line.encode()


@admin.register(AuditEvent)
class AuditEventAdmin(AuditEventModelAdmin):
    """Read-only: who did what, when, to what, and from where."""

    list_display = ("when", "actor", "action", "target", "address")
    list_filter = ("at", "action", "target_type", "via")
    search_fields = ("actor_name", "action", "target_name", "=target_id", "=request_id", "address")
    search_help_text = "Who, what was done, what to (by name or key), or an address."
    ordering = ("-at", "-id")
    fields = ("id", "when", *COLUMNS[2:-1], "pretty_details")
    readonly_fields = ("when", "pretty_details")
    show_full_result_count = False
    change_list_template = "admin/audit/auditevent/change_list.html"

    @admin.display(description="At", ordering="at")
    def when(self, event: AuditEvent) -> str:
        """Say when it was done, to the second."""
        return date_format(timezone.localtime(event.at), "j M Y, H:i:s")

    @admin.display(description="Actor", ordering="actor_name", empty_value="–")
    def actor(self, event: AuditEvent) -> str | None:
        """Name who did it."""
        return event.actor_name or None

    @admin.display(description="Target", ordering="target_name", empty_value="–")
    def target(self, event: AuditEvent) -> str | None:
        """Name what it was done to."""
        kind = event.target_type.rpartition(".")[2]
        return f"{kind} {event.target_name or event.target_id}".strip() or None

    @admin.display(description="Details")
    def pretty_details(self, event: AuditEvent) -> str:
        """Show what else is known."""
        return json.dumps(event.details, indent=2, ensure_ascii=False) if event.details else "–"

    def get_urls(self) -> list[URLPattern]:
        """Add the address of the list as a file."""
        export = path(
            "export/", self.admin_site.admin_view(self.export), name="audit_auditevent_export"
        )
        return [export, *super().get_urls()]

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """Send the list, filtered and searched as it is shown, as CSV."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            events = self.get_changelist_instance(request).queryset
        except (IncorrectLookupParameters, DisallowedModelAdminLookup):
            return redirect("admin:audit_auditevent_changelist")
        record(None, "audit.exported", Target("audit.auditevent"), filters=sorted(request.GET))
        name = f"audit-{timezone.now():%Y-%m-%d-%H%M}.csv"
        return StreamingHttpResponse(
            in_steps(lines(events)),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let nobody add events here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: AuditEvent | None = None) -> bool:
        """Let nobody change them."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AuditEvent | None = None) -> bool:
        """Let nobody delete them."""
        return False


def lines(events: QuerySet[AuditEvent]) -> Iterator[bytes]:
    """Yield the lines of a CSV file with a heading, the newest event first."""
    writer: Any = csv.writer(Line(), quoting=csv.QUOTE_ALL)
    yield writer.writerow(COLUMNS)
    for event in chain.from_iterable(by_key(events)):
        known = json.dumps(event.details, ensure_ascii=False) if event.details else ""
        plain = (getattr(event, column) for column in COLUMNS[:-1])
        yield writer.writerow([cell(value) for value in (*plain, known)])
