"""The strength of a password, as somebody who guesses would see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Of 0 to 4: it takes more than a hundred million guesses.
GOOD_ENOUGH = 3
# What is longer is strong by its length, and takes long to look at.
MAX_LOOKED_AT = 72
PERSONAL = ("username", "email", "first_name", "last_name")


class StrengthValidator:
    """Refuses passwords that are guessed soon: common ones, names, dates, rows of keys."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Raise ValidationError, saying why, if `password` is weak for `user`."""
        # It takes a tenth of a second to load, which few processes need to spend.
        from zxcvbn import zxcvbn  # noqa: PLC0415

        personal = [str(value) for name in PERSONAL if (value := getattr(user, name, ""))]
        result = zxcvbn(password[:MAX_LOOKED_AT], user_inputs=["ragsite", *personal])
        if result["score"] < GOOD_ENOUGH:
            reason = result["feedback"]["warning"] or gettext("This password is guessed easily.")
            raise ValidationError(f"{reason} {self.get_help_text()}", code="password_too_weak")

    def get_help_text(self) -> str:
        """Say what makes a password strong."""
        return gettext("Use several words that do not belong together, or let a program choose.")
