"""Settings of transport: addresses, the secret key, cookies, and headers."""

from __future__ import annotations

from urllib.parse import urlsplit

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
SECRET_KEY = env.str("SECRET_KEY", default="") or secret.key(state_dir(BASE_DIR))
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
SESSION_COOKIE_SECURE = _https
CSRF_COOKIE_SECURE = _https
CSRF_COOKIE_HTTPONLY = False
SECURE_REFERRER_POLICY = "same-origin"
# Browsers ignore it, and complain, where a page came by plain HTTP.
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin" if _https else None
X_FRAME_OPTIONS = "DENY"
