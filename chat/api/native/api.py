"""The API: its areas, and what its description says of it as a whole."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from chat.api.native import (
    assistants,
    collections,
    conversations,
    description,
    feedback,
    me,
    runs,
    search,
    uploads,
)
from chat.api.native.parsing import StorableParser


class DescribedAPI(NinjaAPI):
    """An API whose description has what ninja does not say by itself."""

    _described: OpenAPISchema | None = None

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """Return the description, whole; it is always the same."""
        if self._described is None:
            self._described = description.completed(super().get_openapi_schema(**options))
        return self._described


api = DescribedAPI(
    title="ragsite",
    version="1",
    description=description.INTRODUCTION,
    urls_namespace="api",
    docs_url=None,
    parser=StorableParser(),
)
api.add_router("me", me.router)
api.add_router("assistants", assistants.router)
api.add_router("collections", collections.router)
# With what writes them: an address has one view for all methods.
api.add_router("documents", uploads.router)
api.add_router("search", search.router)
api.add_router("runs", runs.router)
api.add_router("conversations", conversations.router)
api.add_router("messages", feedback.router)
