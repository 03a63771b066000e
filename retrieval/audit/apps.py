"""The application of the audit log."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Who read or changed what."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "retrieval.audit"
    verbose_name = "Audit log"
