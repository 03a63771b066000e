"""Ada and Bob, and the browser in which Ada has shown who she is."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests import conversations


@pytest.fixture
def ada(db: None) -> User:
    return conversations.person("ada", email="ada@example.org")


@pytest.fixture
def bob(db: None) -> User:
    return conversations.person("bob")


@pytest.fixture
def signed_in(client: Client, ada: User) -> Client:
    """Sign Ada in, and let her show once more who she is."""
    client.post(reverse("login"), {"login": "ada", "password": "ada"})
    client.post(reverse("account_reauthenticate"), {"password": "ada"})
    return client
