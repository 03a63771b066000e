"""Who calls the API: a program by its token, or a page of the site by its session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chat.api import credentials, uploading

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest

    from chat.accounts.models import Scope


class Caller(credentials.Caller):
    """Signs in by a token with all of the scopes, or by a session."""

    def __init__(self, *scopes: Scope) -> None:
        super().__init__(*scopes, sessions=True)


class Uploader(Caller):
    """Lets who calls send as much as a file may have in the body."""

    def __call__(self, request: HttpRequest) -> User:
        """Return who calls."""
        user = super().__call__(request)
        if request.content_type != "multipart/form-data":
            uploading.read_body(request)
        return user
