"""The site as an ASGI application: pages over HTTP, questions and answers over a WebSocket."""

import os
from typing import Any, cast

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import WebsocketDenier
from django.core.asgi import get_asgi_application
from django.urls import re_path

from ragsite import postgres

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ragsite.settings")
postgres.ensure()
pages = get_asgi_application()

from chat.accounts.guests import GuestSockets  # noqa: E402 - its models need the apps loaded
from chat.accounts.sockets import TokenOrSession  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402
from ragsite.origins import SameOriginValidator  # noqa: E402

routes: list[Any] = [*websocket_urlpatterns, re_path("", cast("Any", WebsocketDenier.as_asgi()))]

sockets = URLRouter(routes)
of_browsers = SameOriginValidator(AuthMiddlewareStack(GuestSockets(sockets)))

application = ProtocolTypeRouter(
    {"http": pages, "websocket": TokenOrSession(with_token=sockets, with_session=of_browsers)}
)
