"""Settings of transport: addresses, the secret key, cookies, and headers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from csp import constants as csp
from django.core.exceptions import ImproperlyConfigured

from ragsite import secret
from ragsite.environment import BASE_DIR, env
from ragsite.state import state_dir

# Where `manage.py web` listens, and the address people use when that is another.
WEB_HOST = env.str("HOST", default="127.0.0.1")
WEB_PORT = env.int("PORT", default=8000)
PUBLIC_URL = env.str("PUBLIC_URL", default="")
_public = urlsplit(PUBLIC_URL)
_https = _public.scheme == "https"

DEBUG = env.bool("DEBUG", default=False)
if DEBUG and _https:
    raise ImproperlyConfigured(
        "DEBUG shows settings and code to whoever meets an error, and PUBLIC_URL is an https "
        "address that others can reach. Leave one of them out."
    )
_given_key = env.str("SECRET_KEY", default="")
SECRET_KEY = _given_key or secret.key(state_dir(BASE_DIR))
# A site that others can reach does not start with weak secrets (settings.py checks them).
CHECK_SECRETS = not DEBUG and (_https or bool(_given_key))
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
if _public.hostname:
    ALLOWED_HOSTS.append(_public.hostname)
    CSRF_TRUSTED_ORIGINS.append(f"{_public.scheme}://{_public.netloc}")

# With an https address the site is behind a proxy that ends TLS.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _https else None
SECURE_SSL_REDIRECT = _https
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000 if _https else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = _https
SECURE_HSTS_PRELOAD = _https

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _https
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
GUEST_COOKIE_NAME = "guest"
if _https:
    # Browsers take these from this host over TLS only: no other host can set them.
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
    GUEST_COOKIE_NAME = "__Host-guest"
# Not in a cookie of their own.
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Nothing is said to other sites. `no-referrer` would take the origin from the site's own forms,
# too, and Django refuses those (docs/decisions.md).
SECURE_REFERRER_POLICY = "same-origin"
# Browsers ignore it, and complain, where a page came by plain HTTP.
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin" if _https else None
X_FRAME_OPTIONS = "DENY"
# Browsers hold a form's redirects against `form-action`, too: signing in elsewhere begins so.
_elsewhere = urlsplit(env.str("OIDC_SERVER_URL", default=""))
_signs_in = [f"{_elsewhere.scheme}://{_elsewhere.netloc}"] if _elsewhere.netloc else []
_directives: dict[str, Any] = {
    "default-src": [csp.NONE],
    "script-src": [csp.SELF],
    "style-src": [csp.SELF],
    "img-src": [csp.SELF],
    "font-src": [csp.SELF],
    # The socket, too.
    "connect-src": [csp.SELF],
    "form-action": [csp.SELF, *_signs_in],
    "base-uri": [csp.NONE],
    "frame-ancestors": [csp.NONE],
    "object-src": [csp.NONE],
}
if _https:
    _directives["upgrade-insecure-requests"] = True
CONTENT_SECURITY_POLICY = {"DIRECTIVES": _directives}
# Passkeys and the copy buttons; nothing else of the machine, here or in what the page might hold.
_off = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "clipboard-read",
    "display-capture", "encrypted-media", "fullscreen", "gamepad", "geolocation", "gyroscope",
    "hid", "idle-detection", "local-fonts", "magnetometer", "microphone", "midi", "payment",
    "picture-in-picture", "screen-wake-lock", "serial", "storage-access", "sync-xhr", "usb",
    "window-management", "xr-spatial-tracking",
)  # fmt: skip
_own = ("clipboard-write", "publickey-credentials-create", "publickey-credentials-get")
PERMISSIONS_POLICY: dict[str, list[str]] = {
    **{feature: [] for feature in _off},
    **{feature: ["self"] for feature in _own},
}
