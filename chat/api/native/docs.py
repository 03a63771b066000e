"""The page that shows the API's description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show the operations, which can be tried there."""
    return render(request, "api/docs.html")


page = path("docs", docs, name="docs")
