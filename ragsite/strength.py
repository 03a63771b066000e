"""Secrets that a site others can reach does not start with: short, well known, or guessable."""

from __future__ import annotations

import math
from collections import Counter

from django.core.exceptions import ImproperlyConfigured

KEY_CHARS, KEY_BITS = 32, 128
TOKEN_CHARS, TOKEN_BITS = 16, 50
# What examples and tutorials are full of, wherever it stands in a secret.
PLACEHOLDERS = ("django-insecure", "changeme", "change-me", "change_me", "change this", "your-")
KNOWN_PASSWORDS = {
    "", "admin", "changeme", "database", "example", "password", "postgres", "postgresql", "rag",
    "ragsite", "root", "secret", "test", "user", "123456", "12345678",
}  # fmt: skip
GENERATE = "python -c 'import secrets; print(secrets.token_urlsafe(50))'"


def weakness(secret: str, chars: int, bits: int) -> str:
    """Return what is wrong with a secret of at least `chars` characters, or "".

    `bits` is the least entropy by its own characters' frequencies, which repeats do not add to.
    """
    if len(secret) < chars:
        return f"is shorter than {chars} characters"
    if any(placeholder in secret.lower() for placeholder in PLACEHOLDERS):
        return "is an example that everybody knows"
    if entropy(secret) < bits:
        return "is too regular to be random"
    return ""


def entropy(secret: str) -> float:
    """Return the bits of a secret's shortest part that it is made of by repeating."""
    period = (secret + secret).find(secret, 1)
    part = secret[:period]
    return -sum(count * math.log2(count / len(part)) for count in Counter(part).values())


def check(secret_key: str, metrics_token: str, database: tuple[str, str]) -> None:
    """Check the secrets that were given; `database` is a user and a password, "" if embedded.

    Raises ImproperlyConfigured, which names the variable and never the value.
    """
    if secret_key and (found := weakness(secret_key, KEY_CHARS, KEY_BITS)):
        raise ImproperlyConfigured(
            f"SECRET_KEY {found}. Leave it out and one is generated, or make one: {GENERATE}"
        )
    if metrics_token and (found := weakness(metrics_token, TOKEN_CHARS, TOKEN_BITS)):
        raise ImproperlyConfigured(f"METRICS_TOKEN {found}. Make one: {GENERATE}")
    user, password = database
    if password and password.lower() in {*KNOWN_PASSWORDS, user.lower()}:
        raise ImproperlyConfigured(
            "The password in DATABASE_URL is one that everybody tries first. Set another for "
            f"PostgreSQL's user {user}, and put it there."
        )
