"""The secrets of second factors, which are stored encrypted."""

from __future__ import annotations

import base64

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypts by the site's secret key; keys in SECRET_KEY_FALLBACKS still decrypt."""

    def build_totp_svg(self, url: str) -> str:
        """Return the picture of an address as an element of a page."""
        return str(super().build_totp_svg(url)).partition("?>")[2]

    def encrypt(self, text: str) -> str:
        """Return what is stored of a secret."""
        return _keys().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a secret; raises cryptography's InvalidToken if its key is gone."""
        return _keys().decrypt(encrypted_text.encode()).decode()


def _keys() -> MultiFernet:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(_key(str(secret))) for secret in secrets])


def _key(secret: str) -> bytes:
    digest = salted_hmac(__name__, "second factor", secret=secret, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest)
