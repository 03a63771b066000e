"""How tests sign in."""

from __future__ import annotations

from django.test import Client

PASSWORD = "rivers under seven lanterns"
LOGIN = "/accounts/login/"


def is_signed_in(client: Client) -> bool:
    """Whether a browser is signed in."""
    return "_auth_user_id" in client.session


def sign_in(client: Client, login: str, password: str = PASSWORD, **more: str) -> str:
    """Sign in with a password, and return the page that comes."""
    response = client.post(LOGIN, {"login": login, "password": password, **more})
    return response.content.decode()
