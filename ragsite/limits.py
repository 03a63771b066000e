"""Settings of limits: what one may use who has no limit of their own. Unset is unlimited."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from ragsite.environment import env

# Of everyone who is signed in.
LIMIT_QUESTIONS_A_MINUTE = env.int("LIMIT_QUESTIONS_A_MINUTE", default=None)
LIMIT_TOKENS_A_DAY = env.int("LIMIT_TOKENS_A_DAY", default=None)
LIMIT_CONCURRENT_RUNS = env.int("LIMIT_CONCURRENT_RUNS", default=None)
LIMIT_UPLOADS_A_DAY = env.int("LIMIT_UPLOADS_A_DAY", default=None)
LIMIT_STORAGE_BYTES = env.int("LIMIT_STORAGE_BYTES", default=None)
# Of each guest, who asks a public assistant without signing in.
GUEST_QUESTIONS_A_MINUTE = env.int("GUEST_QUESTIONS_A_MINUTE", default=6)
GUEST_TOKENS_A_DAY = env.int("GUEST_TOKENS_A_DAY", default=100_000)
GUEST_CONCURRENT_RUNS = env.int("GUEST_CONCURRENT_RUNS", default=1)
# Of all guests of one address, or of one IPv6 network: a school may share one.
GUEST_ADDRESS_QUESTIONS_A_MINUTE = env.int("GUEST_ADDRESS_QUESTIONS_A_MINUTE", default=30)
GUEST_ADDRESS_TOKENS_A_DAY = env.int("GUEST_ADDRESS_TOKENS_A_DAY", default=500_000)
GUEST_ADDRESS_CONCURRENT_RUNS = env.int("GUEST_ADDRESS_CONCURRENT_RUNS", default=5)

for _name, _value in list(globals().items()):
    if _name.startswith(("LIMIT_", "GUEST_")) and _value is not None and _value < 0:
        raise ImproperlyConfigured(f"{_name} must be 0 or more; leave it out for no limit.")
