"""Addresses of the site."""

from django.contrib import admin
from django.urls import include, path

from ragsite.health import healthz

urlpatterns = [
    path("healthz", healthz),
    path("accounts/", include("django.contrib.auth.urls")),
    path("admin/", admin.site.urls),
    path("", include("chat.urls")),
]
