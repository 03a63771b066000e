"""What docs/security.md says of headers and files is so."""

import re

import pytest
from django.conf import settings
from django.test import Client

from tests.ragsite.test_settings import read

PAGE = (settings.BASE_DIR / "docs" / "security.md").read_text()
ROWS = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
LATER = {"Clear-Site-Data", "Strict-Transport-Security", "Cross-Origin-Opener-Policy"}


def test_every_header_in_the_table_is_sent_and_no_other_of_its_kind(db: None) -> None:
    sent = Client().get("/accounts/login/").headers
    assert ROWS.keys() - LATER <= sent.keys()
    of_its_kind = {
        name
        for name in sent
        if re.match("Content-Sec|Cross-|Permis|Referr|X-|Cache|Clear|Strict", name)
    }
    assert of_its_kind <= ROWS.keys()


@pytest.mark.parametrize(
    "name",
    [
        "Referrer-Policy",
        "X-Content-Type-Options",
        "X-Frame-Options",
        "Cross-Origin-Resource-Policy",
    ],
)
def test_their_values_are_those_of_the_table(db: None, name: str) -> None:
    assert f"`{Client().get('/accounts/login/').headers[name]}`" in ROWS[name]


def test_with_an_https_address_there_are_the_second_values() -> None:
    found = read(
        "SECURE_CROSS_ORIGIN_OPENER_POLICY", "SECURE_HSTS_SECONDS", "SESSION_COOKIE_NAME",
        "CSRF_COOKIE_NAME", "CONTENT_SECURITY_POLICY", "SECURE_HSTS_INCLUDE_SUBDOMAINS",
        PUBLIC_URL="https://rag.example.org", OIDC_SERVER_URL="https://id.example.org/realm",
        OIDC_CLIENT_ID="rag",
    )  # fmt: skip
    directives = found["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]
    assert found["SECURE_CROSS_ORIGIN_OPENER_POLICY"] == "same-origin"
    assert found["SECURE_HSTS_SECONDS"] == 365 * 24 * 3600
    assert found["SECURE_HSTS_INCLUDE_SUBDOMAINS"] is True
    assert found["SESSION_COOKIE_NAME"].startswith("__Host-")
    assert found["CSRF_COOKIE_NAME"].startswith("__Host-")
    assert directives["upgrade-insecure-requests"] is True
    assert directives["form-action"] == ["'self'", "https://id.example.org"]


def test_what_it_names_exists() -> None:
    paths = re.findall(r"`((?:static|tests|\.ci)/[\w/.-]+)`", PAGE)
    links = re.findall(r"\]\((\w[\w-]*\.md)", PAGE)
    assert len(paths) >= 3
    assert [path for path in paths if not (settings.BASE_DIR / path).exists()] == []
    assert [link for link in links if not (settings.BASE_DIR / "docs" / link).exists()] == []
