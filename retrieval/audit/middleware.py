"""The request that is being answered, for whoever writes to the audit log."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from django.utils.decorators import sync_and_async_middleware

from retrieval.audit.recording import answering

if TYPE_CHECKING:
    from django.http import HttpRequest


@sync_and_async_middleware
def audit_middleware(get_response: Any) -> Any:
    """Let what is recorded name the request it comes from."""
    if not iscoroutinefunction(get_response):

        def middleware(request: HttpRequest) -> Any:
            with answering(request):
                return get_response(request)

        return middleware

    async def async_middleware(request: HttpRequest) -> Any:
        with answering(request):
            return await get_response(request)

    return async_middleware
