"""The application of accounts."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Signing in, tokens for programs, guests, and a person's own data."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "chat.accounts"
    verbose_name = "Tokens and guests"

    def ready(self) -> None:
        """Do what follows from signing in, revoking a token, deleting somebody, and migrating."""
        from chat.accounts import erasing, roles, signals, sockets  # noqa: F401, PLC0415

        roles.connect()
