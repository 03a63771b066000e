"""What templates of every page may need to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest


def signing_in(request: HttpRequest) -> dict[str, Any]:
    """Return the theme, and what people can do about their accounts by themselves."""
    return {
        "theme": request.COOKIES.get("theme", "system"),
        "sends_mail": bool(settings.EMAIL_URL),
        "sign_up": settings.SIGN_UP,
        "sign_up_domains": settings.SIGN_UP_DOMAINS,
        "contact_email": settings.CONTACT_EMAIL,
        "single_sign_on": bool(settings.OIDC_SERVER_URL),
    }
