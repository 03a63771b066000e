"""The forms of signing in and of signing up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account import forms
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.webauthn import forms as webauthn
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy

from chat.accounts.adapters import is_of_domains

if TYPE_CHECKING:
    from django.http import QueryDict


class LoginForm(forms.LoginForm):  # type: ignore[misc]
    """Username or address, and password."""

    def __init__(self, data: QueryDict | None = None, *args: Any, **kwargs: Any) -> None:
        # Programs that sign in know this field by its usual name, too.
        if data and "login" not in data and "username" in data:
            data = data.copy()
            data.setlist("login", data.getlist("username"))
        super().__init__(data, *args, **kwargs)
        self.fields["login"].label = gettext_lazy("Username or e-mail")
        self.fields["login"].widget.attrs |= {
            "autocomplete": "username webauthn",
            "autocapitalize": "none",
            "spellcheck": "false",
            "autofocus": True,
        }
        self.fields["remember"].label = gettext_lazy("Keep me signed in on this device")


class SignupForm(forms.SignupForm):  # type: ignore[misc]
    """Address and password of a new account."""

    def clean_email(self) -> str:
        """Return the address. Raises ValidationError if its domain may not sign up."""
        email = str(super().clean_email())
        if not is_of_domains(email):
            domains = ", ".join(settings.SIGN_UP_DOMAINS)
            raise ValidationError(
                gettext("Only addresses of %(domains)s can be used.") % {"domains": domains}
            )
        return email


class ActivateTOTPForm(totp.ActivateTOTPForm):  # type: ignore[misc]
    """First code of an authenticator app."""

    def clean_code(self) -> str:
        """Return the code, which is used up by this. Raises ValidationError if it is wrong."""
        code = str(super().clean_code())
        app = TOTP(Authenticator(user=self.user, type=Authenticator.Type.TOTP))
        if not app._mark_code_used(code):
            raise get_mfa_adapter().validation_error("incorrect_code")
        return code


class AddWebAuthnForm(webauthn.AddWebAuthnForm):  # type: ignore[misc]
    """Name and kind of a new passkey or security key."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        passwordless = self.fields["passwordless"]
        passwordless.initial = True
        passwordless.label = gettext_lazy("Sign in with it alone, without a password (a passkey)")
        passwordless.help_text = gettext_lazy(
            "Otherwise it is a second factor, to be used after the password."
        )
