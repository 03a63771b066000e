"""Addresses of the site."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the site is up."""
    return HttpResponse("ok", content_type="text/plain")


urlpatterns = [
    path("healthz", healthz),
    path("accounts/", include("django.contrib.auth.urls")),
    path("admin/", admin.site.urls),
]
