"""`/metrics` for Prometheus: for whoever has the token, and for administrators."""

from __future__ import annotations

import os

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

BEARER = "Bearer "


async def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with all metrics; 403 for a wrong token, 404 for who has none and may not see runs."""
    offered = request.headers.get("Authorization", "")
    if offered.startswith(BEARER):
        known = settings.METRICS_TOKEN
        if not known or not constant_time_compare(offered.removeprefix(BEARER), known):
            return HttpResponse("wrong token\n", status=403, content_type="text/plain")
    else:
        user = await request.auser()
        if not await user.ahas_perm("chat.view_run"):
            raise Http404
    return HttpResponse(generate_latest(registry()), content_type=CONTENT_TYPE_LATEST)


def registry() -> CollectorRegistry:
    """Return what is counted: by this process, or by all that `manage.py web` runs together."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return together
