"""How far versions are, in words; and the poller of pages that follow them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.template.loader import render_to_string

from retrieval.admin_managed import managed_versions
from retrieval.ingestion.worker import is_running
from retrieval.models import ENDED, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.admin import ModelAdmin
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from retrieval.models import DocumentVersion

# Versions that are asked for at once; pages that follow more ask for these first.
FOLLOWED = 200


def stages(request: HttpRequest, model_admin: ModelAdmin[Any]) -> HttpResponse:
    """Return the stages of the versions asked for, and a poller for those that go on.

    Whoever may upload may follow what was uploaded.
    """
    if not (model_admin.has_view_permission(request) or model_admin.has_add_permission(request)):
        raise PermissionDenied
    keys = valid_keys(request.GET.getlist("version"))
    versions = versions_of(request, keys)
    active = any_active(versions)
    poller = render_to_string(
        "admin/retrieval/document/_poller.html",
        {"active": active, "no_worker": active and no_worker()},
    )
    gone = set(keys) - {version.pk for version in versions}
    parts = [stage_html(version, swap=True) for version in versions]
    parts += [render_to_string("admin/retrieval/document/_gone.html", {"key": k}) for k in gone]
    return HttpResponse("".join([poller, *parts]))


def stage_html(
    version: DocumentVersion, *, swap: bool = False, followed: bool = True
) -> SafeString:
    """Return a version's stage in words, with its progress or its error.

    What is `followed` is asked for again by the page's poller, and is on a page once.
    """
    return render_to_string(
        "admin/retrieval/document/_stage.html",
        {
            "version": version,
            "swap": swap,
            "followed": followed,
            "active": version.stage not in ENDED,
            "failed": version.stage == Stage.FAILED,
            "ready": version.stage == Stage.READY,
        },
    )


def any_active(versions: Iterable[DocumentVersion]) -> bool:
    """Whether some of the versions are worth asking for again."""
    return any(version.stage not in ENDED for version in versions)


def no_worker() -> bool:
    """Whether nothing goes on because no worker runs."""
    return not is_running()


def valid_keys(keys: Iterable[str]) -> list[uuid.UUID]:
    """Return the first of the keys as ids; what is none is passed over."""
    found = []
    for key in list(keys)[:FOLLOWED]:
        try:
            found.append(uuid.UUID(key))
        except ValueError:
            continue
    return found


def versions_of(request: HttpRequest, keys: Iterable[uuid.UUID]) -> list[DocumentVersion]:
    """Return versions by their ids, in order; what is gone, or not theirs, is passed over."""
    wanted = list(keys)
    found = managed_versions(request).select_related("document").defer("text").in_bulk(wanted)
    return [found[key] for key in wanted if key in found]
