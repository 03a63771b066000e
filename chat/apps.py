"""The app of conversations and of answering."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    """Conversations and answers."""

    name = "chat"
    verbose_name = "Conversations"

    def ready(self) -> None:
        """Register the system checks, what is done when people sign out, and what answers cite.

        What changes assistants is recorded, and what is old is let go.
        """
        from chat import access, checks, expiring  # noqa: F401, PLC0415
        from chat.keeping import cited_versions  # noqa: PLC0415
        from retrieval import expiry  # noqa: PLC0415
        from retrieval.audit import signals  # noqa: PLC0415
        from retrieval.ingestion import retention  # noqa: PLC0415

        retention.cited_versions.append(cited_versions)
        signals.watch("chat.Assistant")
        expiry.kinds.extend(expiring.KINDS)
