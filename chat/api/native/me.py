"""Who calls, and what they may."""

from __future__ import annotations

from datetime import datetime

from ninja import Field, Router, Schema

from chat.accounts.models import ApiToken
from chat.api import uploading
from chat.api.credentials import Request
from chat.api.native.callers import Caller

router = Router(tags=["me"], auth=Caller())


class TokenOut(Schema):
    """The token that the request was signed in by."""

    name: str
    scopes: list[str]
    expires_at: datetime | None


class Me(Schema):
    """A person with an account."""

    id: int
    username: str
    email: str
    is_superuser: bool
    may_upload: bool = Field(description="Whether there is a collection to upload to.")
    may_add_collections: bool
    token: TokenOut | None = Field(description="Null where a session signed the request in.")


@router.get("", response=Me, operation_id="getMe", summary="Who calls")
def get_me(request: Request) -> Me:
    """Say whose token it is, and what it is good for."""
    user, token = request.user, request.token
    return Me(
        id=user.pk,
        username=user.get_username(),
        email=user.email,
        is_superuser=user.is_superuser,
        may_upload=uploading.managed(user, "add_document").exists(),
        may_add_collections=user.has_perm("retrieval.add_collection"),
        token=_described(token) if token else None,
    )


def _described(token: ApiToken) -> TokenOut:
    return TokenOut(name=token.name, scopes=list(token.scopes), expires_at=token.expires_at)
