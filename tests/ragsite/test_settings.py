"""Settings that are safe by default, and safe for a site on the internet."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from ragsite.environment import BASE_DIR, Environment

READ = """
import json, sys
from ragsite import settings
print(json.dumps({name: getattr(settings, name) for name in sys.argv[1:]}))
"""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {
        name: os.environ[name] for name in ("PATH", "HOME", "RAGSITE_STATE") if name in os.environ
    }
    return subprocess.run(
        [sys.executable, *command],
        cwd=BASE_DIR, env=known | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def read(*names: str, **environment: str) -> dict[str, Any]:
    result = run("-c", READ, *names, **environment)
    assert result.returncode == 0, result.stderr
    settings: dict[str, Any] = json.loads(result.stdout)
    return settings


def test_nothing_set_means_a_local_site_without_debugging() -> None:
    settings = read("DEBUG", "ALLOWED_HOSTS", "SECRET_KEY", "SESSION_COOKIE_SECURE", "WEB_HOST")
    assert settings["DEBUG"] is False
    assert settings["ALLOWED_HOSTS"] == ["127.0.0.1", "localhost", "[::1]"]
    assert len(settings["SECRET_KEY"]) >= 50
    assert settings["SESSION_COOKIE_SECURE"] is False
    assert settings["WEB_HOST"] == "127.0.0.1"


def test_an_https_address_is_trusted_and_makes_cookies_secure() -> None:
    settings = read(
        "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE",
        "SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "GUEST_COOKIE_NAME",
        PUBLIC_URL="https://rag.example.org:8443",
    )  # fmt: skip
    assert "rag.example.org" in settings["ALLOWED_HOSTS"]
    assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://rag.example.org:8443"]
    assert settings["SESSION_COOKIE_SECURE"] is settings["CSRF_COOKIE_SECURE"] is True
    for cookie in ("SESSION", "CSRF", "GUEST"):
        assert settings[f"{cookie}_COOKIE_NAME"].startswith("__Host-")


def test_the_deployment_check_has_nothing_to_say_about_an_https_site() -> None:
    result = run(
        "manage.py", "check", "--deploy", "--fail-level=INFO", PUBLIC_URL="https://rag.example.org"
    )
    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout


@pytest.mark.parametrize("address", ["rag.example.org", "ftp://rag.example.org", "https://"])
def test_a_public_url_that_is_none_is_reported(address: str) -> None:
    result = run("manage.py", "check", PUBLIC_URL=address)
    assert result.returncode == 1
    assert "PUBLIC_URL" in result.stderr


def test_a_request_that_could_not_hold_a_file_is_reported() -> None:
    result = run("manage.py", "check", UPLOAD_MAX_BYTES="10", UPLOAD_MAX_REQUEST_BYTES="9")
    assert result.returncode == 1
    assert "UPLOAD_MAX_REQUEST_BYTES must not be less" in result.stderr


def test_a_database_url_is_used_instead_of_the_embedded_server() -> None:
    settings = read(
        "DATABASES", "EMBEDDED_POSTGRES", DATABASE_URL="postgres://me:pw@db.example.org:5433/rag"
    )
    assert settings["EMBEDDED_POSTGRES"] is False
    database = settings["DATABASES"]["default"]
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example.org", 5433, "rag")


def test_an_unreachable_database_is_told_in_a_sentence() -> None:
    result = run("manage.py", "worker", DATABASE_URL="postgres://me:pw@127.0.0.1:1/rag")
    assert result.returncode == 1
    assert "The database cannot be reached" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_secret_may_begin_with_a_dollar_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would otherwise stand for the variable of that name, or for nothing."""
    monkeypatch.setenv("SECRET_KEY", "$hx3!")
    assert Environment().str("SECRET_KEY", default="") == "$hx3!"
