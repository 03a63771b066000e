"""Where the socket is."""

from django.urls import path

from chat.consumers import ChatConsumer

# Django types a route as a view; Channels puts an ASGI application there.
websocket_urlpatterns = [path("ws/chat/", ChatConsumer.as_asgi())]  # type: ignore[arg-type]
