"""The application of accounts."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Signing in, tokens for programs, guests, and a person's own data."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "chat.accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        """Do what follows from signing in, and from revoking a token."""
        from chat.accounts import signals, sockets  # noqa: F401, PLC0415
