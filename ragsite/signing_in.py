"""Settings of signing in: accounts, second factors, OpenID Connect, sessions, and mail for them."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from ragsite.environment import env

AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "chat.accounts.passwords.StrengthValidator"},
]

# Mail, such as smtp+tls://user:password@mail.example.org:587; without it none is sent.
EMAIL_URL = env.str("EMAIL_URL", default="")
if EMAIL_URL:
    vars().update(env.email_url("EMAIL_URL"))
    EMAIL_TIMEOUT = 10
else:
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", default="ragsite@localhost")
# Whom people can write to when they cannot sign in.
CONTACT_EMAIL = env.str("CONTACT_EMAIL", default="")

# Whether people may make accounts for themselves, and with which addresses (any, if none is named).
SIGN_UP = env.bool("SIGN_UP", default=False)
SIGN_UP_DOMAINS = [
    domain.strip().lower().lstrip("@")
    for domain in env.list("SIGN_UP_DOMAINS", default=[])
    if domain.strip()
]
if SIGN_UP and not EMAIL_URL:
    raise ImproperlyConfigured(
        "SIGN_UP needs EMAIL_URL: who signs up has to confirm the address by mail."
    )

ACCOUNT_ADAPTER = "chat.accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "chat.accounts.forms.LoginForm",
    "signup": "chat.accounts.forms.SignupForm",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
# The username is made of the address, so that a form does not tell which are taken.
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_NOTIFICATIONS = bool(EMAIL_URL)
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
# Nobody learns which addresses have an account: not from what pages say, nor from how long they
# take, as mail is sent to both.
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = True
ACCOUNT_MAX_EMAIL_ADDRESSES = 5
# What protects an account is changed only by who has just proved to be its owner.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
# How long a link to set a new password works.
PASSWORD_RESET_TIMEOUT = 24 * 3600

# What processes count together, such as attempts to sign in; one by itself needs no Redis.
_redis = env.str("REDIS_URL", default="")
CACHES = {
    "default": {"BACKEND": "chat.accounts.counts.SharedCounts", "LOCATION": _redis}
    if _redis
    # Room enough, so that no counts are lost to make room for others.
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}
# Limits against guessing are allauth's own. They count by address, which behind so many proxies of
# ours is that many from the right in X-Forwarded-For; https is always one's.
_https = env.str("PUBLIC_URL", default="").startswith("https:")
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXIES", default=1 if _https else 0)

MFA_ADAPTER = "chat.accounts.second_factor.SecondFactorAdapter"
MFA_FORMS = {
    "activate_totp": "chat.accounts.forms.ActivateTOTPForm",
    "add_webauthn": "chat.accounts.forms.AddWebAuthnForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "ragsite"
# The clock of a phone may be half a minute off.
MFA_TOTP_TOLERANCE = 1
# Accounts that administrators make have addresses that nobody confirmed.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# Browsers offer passkeys on https pages, and on this machine's own by plain http.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not _https

# How long a session lasts after it was last used.
SESSION_DAYS = env.int("SESSION_DAYS", default=14)
if SESSION_DAYS < 1:
    raise ImproperlyConfigured("SESSION_DAYS must be 1 or more.")
SESSION_COOKIE_AGE = SESSION_DAYS * 24 * 3600
SESSION_COOKIE_HTTPONLY = True
# A page that a provider of OpenID Connect leads back to must know the session.
SESSION_COOKIE_SAMESITE = "Lax"

# Signing in by a provider of OpenID Connect.
OIDC_SERVER_URL = env.str("OIDC_SERVER_URL", default="")
OIDC_NAME = env.str("OIDC_NAME", default="Single sign-on")
_oidc_client = env.str("OIDC_CLIENT_ID", default="")
_oidc_secret = env.str("OIDC_CLIENT_SECRET", default="")
# Who comes from there for the first time gets an account; with SIGN_UP_DOMAINS, with these only.
OIDC_SIGN_UP = env.bool("OIDC_SIGN_UP", default=True)
# Whether an address that the provider has confirmed is enough to sign in to its account here.
OIDC_MATCH_EMAIL = env.bool("OIDC_MATCH_EMAIL", default=False)
# Claim that lists a person's groups there, and the groups here that follow it: there=here, …
OIDC_GROUPS_CLAIM = env.str("OIDC_GROUPS_CLAIM", default="groups")
_groups = [pair.strip().split("=", 1) for pair in env.list("OIDC_GROUPS", default=[])]
if any(len(pair) != 2 for pair in _groups):
    raise ImproperlyConfigured("OIDC_GROUPS must look like theirs=ours, separated by commas.")
OIDC_GROUPS = dict(_groups)
if OIDC_SERVER_URL and (urlsplit(OIDC_SERVER_URL).scheme not in {"http", "https"}):
    raise ImproperlyConfigured("OIDC_SERVER_URL must look like https://id.example.org/realm.")
if OIDC_SERVER_URL and not _oidc_client:
    raise ImproperlyConfigured("OIDC_SERVER_URL needs OIDC_CLIENT_ID, the client's id there.")
SOCIALACCOUNT_ADAPTER = "chat.accounts.adapters.SocialAccountAdapter"
# The organisation's own provider knows whose address is whose.
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
# From the sign-in page by a link: a form may lead to no other site. The view refuses other sites'.
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION = OIDC_MATCH_EMAIL
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = OIDC_MATCH_EMAIL
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "sso",
                "name": OIDC_NAME,
                "client_id": _oidc_client,
                "secret": _oidc_secret,
                "settings": {"server_url": OIDC_SERVER_URL},
            }
        ]
        if OIDC_SERVER_URL
        else [],
    }
}
