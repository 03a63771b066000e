"""The API, and what its description says of it as a whole."""

from __future__ import annotations

from ninja import NinjaAPI

api = NinjaAPI(
    title="ragsite",
    version="1",
    urls_namespace="api",
    docs_url=None,
)
