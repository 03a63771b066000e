"""Addresses of the site."""

from django.contrib import admin
from django.urls import include, path

from ragsite.health import healthz
from ragsite.metrics import metrics

urlpatterns = [
    path("healthz", healthz),
    path("metrics", metrics),
    path("accounts/", include("django.contrib.auth.urls")),
    path("admin/", admin.site.urls),
    path("", include("chat.urls")),
]
