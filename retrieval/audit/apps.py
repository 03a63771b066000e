"""The application of the audit log."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Who read or changed what."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "retrieval.audit"
    verbose_name = "Audit log"

    def ready(self) -> None:
        """Record what signals tell of."""
        from retrieval.audit import signals  # noqa: F401, PLC0415
