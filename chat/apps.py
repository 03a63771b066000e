"""The app of conversations and of answering."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    """Conversations and answers."""

    name = "chat"
    verbose_name = "Conversations"

    def ready(self) -> None:
        """Register the system checks, and what is done when people sign out."""
        from chat import access, checks  # noqa: F401, PLC0415
