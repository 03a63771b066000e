"""What every response carries, whatever answers: pages, the administration, errors, files."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import AsyncClient, Client, override_settings
from django.urls import path

from tests import conversations

DIRECTIVES = {
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
    "font-src 'self'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    "object-src 'none'",
}  # fmt: skip
# As the middleware of PUBLIC_URL=https://… would see a request that came over TLS.
HTTPS = {"SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https")}


def broken(request: Any) -> None:
    raise RuntimeError("secret detail")


urlpatterns = [path("broken/", broken)]


@pytest.fixture
def ada(db: None) -> User:
    return conversations.person("ada", is_staff=True, is_superuser=True)


@pytest.fixture
def member(ada: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(ada)
    return client


def assert_headed(response: Any) -> None:
    policy = response.headers["Content-Security-Policy"]
    assert set(policy.split("; ")) >= DIRECTIVES
    assert "unsafe" not in policy
    assert "data:" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in response.headers["Permissions-Policy"]
    assert response.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/", 200),
        ("/admin/", 200),
        ("/admin/retrieval/document/", 200),
        ("/admin/jsi18n/", 200),
        ("/healthz", 200),
        ("/metrics", 200),
        ("/none/", 404),
        ("/messages/00000000-0000-7000-8000-000000000000/", 404),
        ("/c/00000000-0000-7000-8000-000000000000/delete/", 405),
    ],
)
def test_every_response_is_headed_and_kept_by_nobody(
    member: Client, address: str, status: int
) -> None:
    response = member.get(address)
    assert response.status_code == status
    assert_headed(response)
    assert "private" in response.headers["Cache-Control"]
    assert "no-store" in response.headers["Cache-Control"]


def test_the_page_of_who_is_not_signed_in_is_headed(db: None) -> None:
    response = Client().get("/")
    assert response.status_code == 302
    assert_headed(response)
    assert "no-store" in response.headers["Cache-Control"]


@override_settings(ROOT_URLCONF=__name__)
def test_an_error_is_headed_and_tells_nothing(member: Client) -> None:
    response = member.get("/broken/")
    assert response.status_code == 500
    assert_headed(response)
    assert b"secret detail" not in response.content


def test_a_foreign_host_is_refused_on_a_headed_page(db: None) -> None:
    response = Client().get("/", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert b"evil" not in response.content


def test_a_form_without_its_token_is_refused_on_a_page_of_ours(ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    response = client.post("/accounts/logout/")
    assert response.status_code == 403
    assert_headed(response)
    assert b"<style" not in response.content


async def test_static_files_are_headed_and_set_no_cookie() -> None:
    response = await AsyncClient().get(staticfiles_storage.url("js/chat.js"))
    assert response.status_code == 200
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "public" in response.headers["Cache-Control"]
    assert not response.cookies
    assert "Set-Cookie" not in response.headers
    assert "Access-Control-Allow-Origin" not in response.headers


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(ada: User) -> None:
    client = Client()
    client.post("/accounts/login/", {"username": "ada", "password": "ada"})
    client.get("/")
    assert {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME} <= set(client.cookies)
    for cookie in client.cookies.values():
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"


@override_settings(**HTTPS)
def test_signing_out_clears_what_the_browser_has_kept(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    secure = {"x-forwarded-proto": "https", "origin": "https://testserver"}
    assert "Clear-Site-Data" not in client.get("/", headers=secure).headers
    response = client.post("/accounts/logout/", headers=secure)
    assert response.headers["Clear-Site-Data"] == '"cache"'


def test_no_template_has_styles_or_scripts_of_its_own() -> None:
    """The policy would stop them, in a page that no test may have opened."""
    inline = re.compile(
        r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\bsrc=)(?![^>]*/json)|javascript:"
    )
    found = [
        f"{file.relative_to(settings.BASE_DIR)}: {match[0]}"
        for file in (settings.BASE_DIR / "templates").rglob("*.html")
        for match in inline.finditer(file.read_text())
    ]
    assert found == []


def test_scripts_turn_no_text_into_elements_but_through_the_sanitiser() -> None:
    sinks = re.compile(
        r"\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
        r"|parseFromString|createContextualFragment|setHTMLUnsafe|srcdoc"
    )
    found = {
        file.name: sinks.findall(file.read_text())
        for file in (settings.BASE_DIR / "static" / "js").glob("*.js")
        if sinks.search(file.read_text())
    }
    # What the site's own upload page answers, in a template, which runs nothing.
    assert found == {"admin-upload.js": [".innerHTML"]}


def test_htmx_puts_no_style_of_its_own_into_pages() -> None:
    pages = [
        file.read_text()
        for file in (settings.BASE_DIR / "templates").rglob("*.html")
        if "{% htmx_script" in file.read_text()
    ]
    assert pages
    assert all('"includeIndicatorStyles": false' in page for page in pages)
    assert all('"allowEval": false' in page for page in pages)
