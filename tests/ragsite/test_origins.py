"""Who may knock at the socket."""

import pytest
from pytest_django import Settings

from ragsite.origins import header, is_allowed

HOST = "rag.example.org:8443"


@pytest.fixture(autouse=True)
def hosts(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["rag.example.org", "127.0.0.1", "[::1]", ".intranet.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://rag.example.org", "https://*.trusted.example"]
    settings.SECURE_SSL_REDIRECT = False


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://rag.example.org:8443", HOST),
        ("HTTPS://RAG.Example.ORG:8443", HOST),
        ("https://rag.example.org:8443", "RAG.example.org:8443"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("http://127.0.0.1", "127.0.0.1"),
        ("http://127.0.0.1:80", "127.0.0.1"),
        ("http://wiki.intranet.example", "wiki.intranet.example"),
        # The address of a proxy that hands on another Host.
        ("https://rag.example.org", "127.0.0.1:8000"),
        ("https://rag.example.org:443", "127.0.0.1:8000"),
        ("https://a.trusted.example", "127.0.0.1:8000"),
    ],
)
def test_the_sites_own_pages_are_let_in(origin: str, host: str) -> None:
    assert is_allowed(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://evil.example", HOST),
        ("", HOST),
        ("null", HOST),
        ("file://", HOST),
        # Another port of the same machine may be anybody's.
        ("http://127.0.0.1:9000", "127.0.0.1:8000"),
        ("http://127.0.0.1", "127.0.0.1:8000"),
        ("https://rag.example.org:9443", HOST),
        ("http://rag.example.org", "127.0.0.1:8000"),
        # Names that only look like it.
        ("https://evil.rag.example.org", HOST),
        ("https://rag.example.org.evil.example:8443", HOST),
        ("https://evil-rag.example.org:8443", HOST),
        ("https://rag.example.org@evil.example", HOST),
        ("https://rag.example.org:8443@evil.example", HOST),
        ("https://evil.example#rag.example.org:8443", HOST),
        ("https://evil.example\\@rag.example.org:8443", HOST),
        ("https://rag.example.org:8443 https://evil.example", HOST),
        ("https://rag.example.org:8443/", HOST),
        ("https://rag.example.org:99999", HOST),
        ("https://rag.example.org:port", HOST),
        ("https://:8443", HOST),
        ("https://eviltrusted.example", "127.0.0.1:8000"),
        # A name of somebody else's that was made to point here.
        ("http://rebound.example", "rebound.example"),
        ("https://rag.example.org", "rebound.example"),
        ("http://127.0.0.1", ""),
        ("http://[::1", "[::1"),
    ],
)
def test_others_are_not(origin: str, host: str) -> None:
    assert not is_allowed(origin, host)


def test_a_page_that_came_by_plain_http_is_foreign_to_an_https_site(
    settings: Settings,
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert not is_allowed("http://rag.example.org:8443", HOST)
    assert is_allowed("https://rag.example.org:8443", HOST)


def test_a_header_that_is_there_twice_counts_as_none() -> None:
    headers = [(b"origin", b"https://a.example"), (b"Origin", b"https://b.example")]
    assert header({"headers": headers}, b"origin") == ""
    assert header({"headers": headers[:1]}, b"origin") == "https://a.example"
