"""Addresses of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from ragsite.health import healthz
from ragsite.metrics import metrics

urlpatterns = [
    path("healthz", healthz),
    path("metrics", metrics),
    path("accounts/login/", auth.LoginView.as_view(), name="login"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("files/", include("retrieval.urls")),
    path("", include("chat.urls")),
]
