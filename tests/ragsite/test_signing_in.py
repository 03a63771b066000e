"""What can be set of signing in, and what cannot work."""

import pytest

from tests.ragsite.test_settings import read, run


def test_sign_up_without_mail_is_reported() -> None:
    result = run("manage.py", "check", SIGN_UP="true")
    assert result.returncode == 1
    assert "SIGN_UP needs EMAIL_URL" in result.stderr


def test_mail_is_sent_by_the_server_that_is_named() -> None:
    settings = read(
        "EMAIL_BACKEND", "EMAIL_HOST", "EMAIL_PORT", "EMAIL_USE_TLS", "EMAIL_HOST_PASSWORD",
        EMAIL_URL="smtp+tls://me:p%40ss@mail.example.org:587",
    )  # fmt: skip
    assert settings == {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": "mail.example.org",
        "EMAIL_PORT": 587,
        "EMAIL_USE_TLS": True,
        "EMAIL_HOST_PASSWORD": "p@ss",
    }


def test_without_a_server_no_mail_is_sent() -> None:
    assert read("EMAIL_BACKEND")["EMAIL_BACKEND"].endswith("dummy.EmailBackend")


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({}, 0),
        ({"PUBLIC_URL": "https://rag.example.org"}, 1),
        ({"PUBLIC_URL": "https://rag.example.org", "TRUSTED_PROXIES": "2"}, 2),
    ],
)
def test_proxies_are_trusted_only_where_there_are_some(given: dict[str, str], count: int) -> None:
    name = "ALLAUTH_TRUSTED_PROXY_COUNT"
    assert read(name, **given)[name] == count


def test_processes_that_share_redis_count_attempts_there() -> None:
    name = "CACHES"
    assert "locmem" in read(name)[name]["default"]["BACKEND"]
    shared = read(name, REDIS_URL="redis://127.0.0.1:6379/0")[name]["default"]
    assert shared["LOCATION"].startswith("redis://")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"OIDC_SERVER_URL": "https://id.example.org"}, "OIDC_CLIENT_ID"),
        ({"OIDC_SERVER_URL": "id.example.org", "OIDC_CLIENT_ID": "x"}, "OIDC_SERVER_URL"),
        ({"OIDC_GROUPS": "kb-editors"}, "OIDC_GROUPS"),
        ({"SESSION_DAYS": "0"}, "SESSION_DAYS"),
    ],
)
def test_what_cannot_work_is_reported(given: dict[str, str], said: str) -> None:
    result = run("manage.py", "check", **given)
    assert result.returncode == 1
    assert said in result.stderr


def test_a_provider_is_read_with_its_groups() -> None:
    settings = read(
        "SOCIALACCOUNT_PROVIDERS", "OIDC_GROUPS",
        OIDC_SERVER_URL="https://id.example.org/realm", OIDC_CLIENT_ID="ragsite",
        OIDC_CLIENT_SECRET="hush", OIDC_NAME="Lund", OIDC_GROUPS="kb=Collection managers,a=B",
    )  # fmt: skip
    (app,) = settings["SOCIALACCOUNT_PROVIDERS"]["openid_connect"]["APPS"]
    assert (app["name"], app["client_id"], app["secret"]) == ("Lund", "ragsite", "hush")
    assert app["settings"]["server_url"] == "https://id.example.org/realm"
    assert settings["OIDC_GROUPS"] == {"kb": "Collection managers", "a": "B"}
