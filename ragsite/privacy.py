"""Settings of privacy: who reads what, what is kept, and for how long."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from ragsite.environment import env

# Whose conversations reviewers read: of all, of those whose answers rest on collections they may
# see themselves (own_collections), of those that have feedback (rated), or of none.
REVIEW_POLICY = env.str("REVIEW_POLICY", default="all")
if REVIEW_POLICY not in {"all", "own_collections", "rated", "none"}:
    raise ImproperlyConfigured("REVIEW_POLICY must be all, own_collections, rated or none.")

# For so many days things are kept after they were last used, 0 for ever: conversations, those of
# guests, what is known of runs beside what was asked, answered and cited, the audit log, and the
# ledger of ingestion.
CONVERSATION_DAYS = env.int("CONVERSATION_DAYS", default=0)
GUEST_DAYS = env.int("GUEST_DAYS", default=30)
RUN_DETAILS_DAYS = env.int("RUN_DETAILS_DAYS", default=0)
AUDIT_DAYS = env.int("AUDIT_DAYS", default=365)
INGEST_LEDGER_DAYS = env.int("INGEST_LEDGER_DAYS", default=0)
if min(CONVERSATION_DAYS, GUEST_DAYS, RUN_DETAILS_DAYS, AUDIT_DAYS, INGEST_LEDGER_DAYS) < 0:
    raise ImproperlyConfigured("Days that something is kept must be 0 or more; 0 is for ever.")

# Whether logs may hold what people ask: each question, and messages of errors whatever they hold.
LOG_QUESTIONS = env.bool("LOG_QUESTIONS", default=False)
