"""The application of accounts."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Signing in, tokens for programs, guests, and a person's own data."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "chat.accounts"
    verbose_name = "Accounts"
