"""The application of limits."""

from django.apps import AppConfig


class LimitsConfig(AppConfig):
    """How much of what a person or a group may use."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "retrieval.limits"
    verbose_name = "Limits"

    def ready(self) -> None:
        """Record the deletion of limits, and whom they are of; let go of what counts no more."""
        from retrieval import expiry  # noqa: PLC0415
        from retrieval.audit import signals  # noqa: PLC0415
        from retrieval.limits.expiring import KINDS  # noqa: PLC0415

        signals.watch("limits.Limit")
        expiry.kinds.extend(KINDS)
