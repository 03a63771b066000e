"""Sockets of programs, which sign in by a token in the handshake."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from channels.layers import get_channel_layer
from django.contrib.auth.models import AnonymousUser
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.utils import timezone

from chat.access import look_again, user_group
from chat.accounts import tokens
from chat.accounts.models import ApiToken, Scope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Application = Callable[[Any, Any, Any], Awaitable[Any]]

PROTOCOL = "ragsite.bearer"


class TokenOrSession:
    """Lets a socket with a token through to `with_token`, and any other to `with_session`.

    No browser sends a token by itself, so its socket needs no origin. Scripts can send no header:
    they offer the token as a protocol behind PROTOCOL, which the socket then speaks.
    """

    def __init__(self, with_token: Application, with_session: Application) -> None:
        self.with_token = with_token
        self.with_session = with_session

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        """Sign in by the token for as long as it is in force."""
        raw = offered(scope)
        if raw is None:
            return await self.with_session(scope, receive, send)
        address = scope["client"][0] if scope.get("client") else None
        token = await tokens.aauthenticate(raw, address)
        if token is None or Scope.ASK not in token.scopes:
            scope = {**scope, "user": AnonymousUser(), "token": None}
            return await self.with_token(scope, receive, send)
        expiry = asyncio.create_task(tell_of_expiry(token), name=f"expiry of token {token.pk}")
        try:
            return await self.with_token(
                {**scope, "user": token.user, "token": token}, receive, send
            )
        finally:
            expiry.cancel()
            with suppress(asyncio.CancelledError):
                await expiry


def offered(scope: Any) -> str | None:
    """Return the token of a handshake; None if there is none of ours."""
    header = dict(scope["headers"]).get(b"authorization", b"").decode("latin1")
    protocols = [*scope.get("subprotocols", ()), "", ""]
    in_protocol = f"bearer {protocols[1]}" if protocols[0] == PROTOCOL else ""
    return tokens.from_header(header) or tokens.from_header(in_protocol)


async def tell_of_expiry(token: ApiToken) -> None:
    """Have the sockets of the token's user look again when it expires."""
    if token.expires_at is None:
        return
    await asyncio.sleep((token.expires_at - timezone.now()).total_seconds())
    layer = get_channel_layer()
    if layer is not None:
        await layer.group_send(user_group(token.user), {"type": "look.again"})


@receiver([post_save, post_delete], sender=ApiToken)
def changed(instance: ApiToken, created: bool = False, **_: Any) -> None:
    """Have the sockets of the token's user look again when it is revoked."""
    if not created:
        look_again(user_group(instance.user))
