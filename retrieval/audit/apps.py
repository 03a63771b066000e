"""The application of the audit log."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Who read or changed what."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "retrieval.audit"
    verbose_name = "Audit log"

    def ready(self) -> None:
        """Record what signals tell of, and let go of what is old."""
        from retrieval import expiry  # noqa: PLC0415
        from retrieval.audit import expiring, signals  # noqa: F401, PLC0415

        expiry.kinds.extend(expiring.KINDS)
