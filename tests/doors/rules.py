"""Who may pass which door: what is not listed here fails the test."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Model

from chat.accounts.models import ApiToken
from tests.doors.people import (
    ADMINISTRATORS,
    ANY_MANAGER,
    EVERYONE,
    MANAGERS,
    NOBODY,
    OTHER,
    OWNER,
    REVIEWERS,
    SIGNED_IN,
    STAFF,
    SUPERUSER,
    World,
)
from tests.doors.routes import Door

Allowed = frozenset[str]
MINE: Allowed = frozenset({OWNER})

# By the names of addresses.
PAGES: dict[str, Allowed] = {
    "healthz": EVERYONE,
    "javascript-catalog": EVERYONE,
    "metrics": ADMINISTRATORS,
    "chat:new": SIGNED_IN,
    "chat:ask": SIGNED_IN,
    "chat:sidebar": SIGNED_IN,
    "chat:document_status": SIGNED_IN,
    "chat:conversation": MINE,
    "chat:wait": MINE,
    "chat:rename": MINE,
    "chat:title": MINE,
    "chat:pin": MINE,
    "chat:delete": MINE,
    "chat:restore": MINE,
    "chat:feedback": MINE,
    "chat:message": MINE,
    "chat:sources": MINE,
    "chat:source": MINE,
    "chat:source_text": MINE,
    "chat:citation": MINE,
    "chat:citation_text": MINE,
    "documents:file": MINE | MANAGERS,
    "api:openapi-json": EVERYONE,
    "api:api-root": NOBODY,  # only its addresses are something
    "admin:index": STAFF,
    "admin:login": STAFF,  # leads everybody else to the one place for signing in
    "admin:logout": NOBODY,  # all end where one signs in
    "admin:jsi18n": STAFF,
    "admin:password_change": EVERYONE,  # leads to the one for everybody
    "admin/password_change/": EVERYONE,
    "admin:password_change_done": STAFF,
    # Without parameters nothing is completed or listed; of nothing there is a page on the site.
    "admin:autocomplete": NOBODY,
    "admin:view_on_site": NOBODY,
    "admin:retrieval_collection_people": NOBODY,
    "admin:chat_assistant_people": NOBODY,
    "admin:app_list": ANY_MANAGER,
    "admin:chat_conversation_history": NOBODY,
    "admin:auth_user_password_change": ADMINISTRATORS,
    "admin:audit_auditevent_export": ADMINISTRATORS,
    "admin:limits_limit_use": ADMINISTRATORS,
    "admin:chat_assistant_try": ADMINISTRATORS,
    "admin:chat_assistant_try_new": ADMINISTRATORS,
    "admin:chat_assistant_versions": ADMINISTRATORS,
    "admin:chat_assistant_restore": ADMINISTRATORS,
    "admin:retrieval_document_queue": ANY_MANAGER,
    "admin:retrieval_document_retry_all": ANY_MANAGER,
    "admin:retrieval_document_stages": ANY_MANAGER,
    "admin:retrieval_document_upload": ANY_MANAGER,
    "admin:retrieval_embeddingspace_switch": ADMINISTRATORS,
    "admin:retrieval_embeddingspace_cancel": ADMINISTRATORS,
    "admin:retrieval_embeddingspace_remove": ADMINISTRATORS,
}
# The site's own API, by sessions: what somebody may not find there, is not there.
PAGES |= dict.fromkeys(
    (
        "api:get_me", "api:list_assistants", "api:list_collections", "api:create_collection",
        "api:list_documents", "api:upload_documents", "api:add_text", "api:add_url", "api:search",
        "api:list_runs", "api:ask", "api:list_conversations", "api:create_conversation",
    ),
    SIGNED_IN,
)  # fmt: skip
PAGES |= dict.fromkeys(
    (
        "api:get_conversation", "api:change_conversation", "api:delete_conversation",
        "api:restore_conversation", "api:get_message", "api:get_run", "api:follow_run",
        "api:stop_run",
    ),
    MINE,
)  # fmt: skip
PAGES |= dict.fromkeys(
    (
        "api:get_collection", "api:change_collection", "api:delete_collection",
        "api:get_document", "api:change_document", "api:delete_document", "api:follow_document",
        "api:list_versions", "api:list_chunks", "api:get_text", "api:download_document",
    ),
    MINE | MANAGERS,
)  # fmt: skip
PAGES |= {
    "api:docs": EVERYONE,
    "langgraph:openapi-json": EVERYONE,
    "r2r:health": EVERYONE,
    # It says itself what is wrong with what is sent, whoever sends it.
    "r2r:refresh_token": EVERYONE,
    "api:get_assistant": MINE | ADMINISTRATORS,
    "api:retry_document": MANAGERS,
    # Their address takes neither method that is tried here.
    "api:put_feedback": NOBODY,
    "api:delete_feedback": NOBODY,
}
# What the public may also open while an assistant is public.
OPEN_TO_GUESTS = {"chat:new", "chat:ask", "chat:sidebar", "chat:document_status"}
# Signing in, and what is one's own whoever one is.
PAGES |= dict.fromkeys(
    (
        "login", "account_login", "account_signup", "account_inactive", "account_confirm_email",
        "account_email_verification_sent", "accounts:reset_password", "account_reset_password",
        "account_reset_password_done", "account_reset_password_from_key",
        "account_reset_password_from_key_done", "socialaccount_login_cancelled",
        # Other addresses of pages that say themselves who may see them.
        "accounts/social/connections/", "accounts/social/login/cancelled/",
        "accounts/social/login/error/", "accounts/social/signup/",
    ),
    EVERYONE,
)  # fmt: skip
PAGES |= dict.fromkeys(
    (
        "logout", "account_logout", "account_change_password", "account_email",
        "account_confirm_login_code", "accounts:overview", "accounts:tokens", "accounts:usage",
        "accounts:own_data", "accounts:erase_account", "accounts:erase_conversations",
        "accounts:export_own_data", "mfa_authenticate", "mfa_index", "mfa_list_webauthn",
        "mfa_login_webauthn", "socialaccount_connections", "usersessions_list",
    ),
    SIGNED_IN,
)  # fmt: skip
PAGES |= dict.fromkeys(("accounts:end_session", "accounts:revoke_token"), MINE)
# What asks who it is once more: only the owner has something to show for that here.
PAGES |= dict.fromkeys(
    (
        "account_reauthenticate", "account_request_reauthentication_code", "account_set_password",
        "accounts:make_token", "mfa_activate_totp", "mfa_add_webauthn", "mfa_deactivate_totp",
        "mfa_edit_webauthn", "mfa_generate_recovery_codes", "mfa_reauthenticate",
        "mfa_reauthenticate_webauthn", "mfa_remove_webauthn",
    ),
    MINE,
)  # fmt: skip
# What goes on with something that nobody here has begun or set up.
PAGES |= dict.fromkeys(
    (
        "account_confirm_reauthentication_code", "accounts:single_sign_on",
        "mfa_download_recovery_codes", "mfa_view_recovery_codes", "openid_connect_callback",
        "openid_connect_login", "socialaccount_login_error", "socialaccount_signup",
    ),
    NOBODY,
)  # fmt: skip

# By app and model: who may open the list, add, and open, change or delete the one there is.
List, Add, Change, Delete = "changelist", "add", "change", "delete"
ROOT: Allowed = frozenset({SUPERUSER})


def model(
    changelist: Allowed, add: Allowed, change: Allowed, delete: Allowed
) -> dict[str, Allowed]:
    """Return the rules of a model's pages."""
    return {List: changelist, Add: add, Change: change, Delete: delete}


MODELS: dict[str, dict[str, Allowed]] = {
    "auth_user": model(*[ADMINISTRATORS] * 4),
    "auth_group": model(*[ADMINISTRATORS] * 4),
    "account_emailaddress": model(ADMINISTRATORS, ROOT, ADMINISTRATORS, ROOT),
    "accounts_apitoken": model(ADMINISTRATORS, NOBODY, ADMINISTRATORS, NOBODY),
    "audit_auditevent": model(ADMINISTRATORS, NOBODY, ADMINISTRATORS, NOBODY),
    "chat_assistant": model(*[ADMINISTRATORS] * 4),
    "chat_conversation": model(REVIEWERS, NOBODY, REVIEWERS, NOBODY),
    "limits_limit": model(*[ADMINISTRATORS] * 4),
    "mfa_authenticator": model(ADMINISTRATORS, NOBODY, ADMINISTRATORS, ADMINISTRATORS),
    "retrieval_chunk": model(ANY_MANAGER, NOBODY, MANAGERS, NOBODY),
    # Adding leads to the upload page, which says itself who may see it.
    "retrieval_document": model(ANY_MANAGER, STAFF, MANAGERS, MANAGERS),
    "retrieval_collection": model(ANY_MANAGER, ADMINISTRATORS, MANAGERS, ADMINISTRATORS),
    "retrieval_embeddingspace": model(ADMINISTRATORS, NOBODY, ADMINISTRATORS, NOBODY),
    "socialaccount_socialaccount": model(ADMINISTRATORS, NOBODY, ADMINISTRATORS, ADMINISTRATORS),
    "usersessions_usersession": model(ADMINISTRATORS, NOBODY, ADMINISTRATORS, ADMINISTRATORS),
}

# What doors outside of the admin lead to by a key.
KEYED: dict[str, type[Model]] = {
    "accounts/sessions/": UserSession,
    "accounts/tokens/": ApiToken,
    "accounts/2fa/webauthn/keys/": Authenticator,
    "admin/r/": User,
}
# Programs sign in there by tokens only, whatever session they have.
DIALECTS = ("r2r/", "langgraph/", "openai/")
IN_ADMIN = re.compile(r"admin:(\w+)_(changelist|add|history|delete|change)")
# Leads to the page of a thing, which says who may see it.
SHORT = re.compile(r"admin/\w+/\w+/<path:object_id>/")
CATCH_ALL = "admin/(?P<url>.*)$"
NOBODYS = UUID("00000000-0000-7000-8000-000000000000")


def rule_of(door: Door) -> Allowed | None:
    """Return who may pass, None if nobody has said."""
    if door.name in PAGES:
        return PAGES[door.name]
    if door.name.endswith(":nowhere") or door.route.startswith(DIALECTS):
        return NOBODY
    if SHORT.fullmatch(door.route):
        return STAFF
    if door.route == CATCH_ALL:
        return NOBODY
    if found := IN_ADMIN.fullmatch(door.name):
        model, action = found.groups()
        return MODELS.get(model, {}).get(Change if action == "history" else action)
    return None


def things(door: Door, world: World) -> dict[str, Any]:
    """Return the parameters that lead a door to what is the owner's or in the collection."""
    every = {
        "conversation_id": world.conversation.pk,
        "message_id": world.run.answer_id,
        "version_id": world.version.pk,
        "document_id": world.version.document_id,
        "collection_id": world.collection.pk,
        "run_id": world.run.pk,
        "ordinal": 0,
        "rank": 1,
        "app_label": "retrieval",
        "content_type_id": 1,
        "id": world.users[OTHER].pk,
        "key": "nobodys",
        "provider_id": "nobodys",
        "uidb36": "nobodys",
        "url": "nowhere/",
        "rest": "v3/documents",
    }
    every |= {"assistant_id": world.assistant.pk, "number": 1}
    if {"object_id", "pk"} & {*door.parameters}:
        every["object_id"] = every["pk"] = world.one_of(model_of(door)).pk
    # What else there is to name is nobody's.
    return {name: every.get(name, NOBODYS) for name in door.parameters}


def model_of(door: Door) -> type[Model]:
    """Return what a door with a key leads to."""
    if found := re.match(r"admin/(\w+)/(\w+)/", door.route):
        return apps.get_model(*found.groups())
    return KEYED[door.route.split("<")[0]]
