"""The application of limits."""

from django.apps import AppConfig


class LimitsConfig(AppConfig):
    """How much of what a person or a group may use."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "retrieval.limits"
    verbose_name = "Limits"
