"""Addresses of the site."""

from allauth.account import views as accounts
from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.decorators.cache import cache_control
from django.views.generic import RedirectView
from django.views.i18n import JavaScriptCatalog

from ragsite.health import healthz
from ragsite.metrics import metrics

# Administrators come in by the same door as everyone, where a second factor is asked for.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
change_password = RedirectView.as_view(pattern_name="account_change_password")
# What scripts say in the language of the page.
catalog = cache_control(max_age=3600)(JavaScriptCatalog.as_view(packages=["chat"]))

urlpatterns = [
    path("healthz", healthz),
    path("metrics", metrics),
    path("accounts/login/", accounts.login, name="login"),
    path("accounts/logout/", accounts.logout, name="logout"),
    path("accounts/", include("chat.accounts.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/password_change/", change_password),
    path("admin/", admin.site.urls),
    path("jsi18n/", catalog, name="javascript-catalog"),
    path("files/", include("retrieval.urls")),
    path("", include("chat.api.urls")),
    path("", include("chat.urls")),
]
