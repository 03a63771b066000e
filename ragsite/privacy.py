"""Settings of privacy: who reads what, what is kept, and for how long."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from ragsite.environment import env

# Whose conversations reviewers read: of all, of those whose answers rest on collections they may
# see themselves (own_collections), or of none.
REVIEW_POLICY = env.str("REVIEW_POLICY", default="all")
if REVIEW_POLICY not in {"all", "own_collections", "none"}:
    raise ImproperlyConfigured("REVIEW_POLICY must be all, own_collections or none.")
