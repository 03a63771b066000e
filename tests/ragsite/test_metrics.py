"""Who may read /metrics."""

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


def test_staff_read_them_without_a_token(client: Client) -> None:
    client.force_login(User.objects.create_user("admin", is_staff=True))
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
