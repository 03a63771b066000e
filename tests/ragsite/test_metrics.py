"""Who may read /metrics, and whose they are."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.django_db


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_whoever_has_the_token_reads_them(client: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN = "tell-me"
    response = client.get("/metrics", headers=bearer("tell-me"))
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain")
    assert b"# TYPE ragsite_first_token_seconds histogram" in response.content


def test_administrators_read_them_without_a_token_and_other_staff_does_not(client: Client) -> None:
    client.force_login(User.objects.create_user("staff", is_staff=True))
    assert client.get("/metrics").status_code == 404
    client.force_login(User.objects.create_superuser("admin"))
    assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize("known", ["", "tell-me"])
@pytest.mark.parametrize("offered", ["", "guessed"])
def test_a_wrong_token_is_refused(
    client: Client, settings: Settings, known: str, offered: str
) -> None:
    settings.METRICS_TOKEN = known
    assert client.get("/metrics", headers=bearer(offered)).status_code == 403


def test_nobody_else_learns_that_they_are_there(client: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN = "tell-me"
    assert client.get("/metrics").status_code == 404
    client.force_login(User.objects.create_user("ada"))
    assert client.get("/metrics").status_code == 404


COUNT = """
from prometheus_client import Counter
Counter("counted", "By several.").inc(3)
"""


def test_of_several_processes_together_they_are_added_up(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    for _ in range(2):
        subprocess.run([sys.executable, "-c", COUNT], check=True)
    settings.METRICS_TOKEN = "tell-me"
    response = client.get("/metrics", headers=bearer("tell-me"))
    assert "counted_total 6.0" in response.content.decode().splitlines()
