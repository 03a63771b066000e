"""What of accounts is in the audit log."""

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chat.accounts import tokens
from chat.accounts.models import Scope
from retrieval.audit.models import AuditEvent

pytestmark = pytest.mark.django_db

PASSWORD = "rivers under seven lanterns"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def actions(prefix: str) -> list[str]:
    found = AuditEvent.objects.filter(action__startswith=prefix)
    return list(found.order_by("pk").values_list("action", flat=True))


def test_making_and_revoking_a_token_are_recorded_once(ada: User) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])
    tokens.authenticate(raw)
    token.revoke()
    token.revoke()
    assert actions("token.") == ["token.made", "token.revoked"]
    assert raw not in str(list(AuditEvent.objects.values()))


def test_who_revoked_a_token_is_recorded(admin_client: Client, admin_user: User, ada: User) -> None:
    token, _ = tokens.make(ada, "Nightly", [Scope.ASK])
    form = {"action": "revoke", "_selected_action": [token.pk]}
    admin_client.post(reverse("admin:accounts_apitoken_changelist"), form)
    assert AuditEvent.objects.get(action="token.revoked").actor_id == admin_user.pk


def test_a_wrong_code_behind_a_right_password_is_recorded(client: Client, ada: User) -> None:
    TOTP.activate(ada, generate_totp_secret())
    client.post(reverse("login"), {"login": "ada", "password": PASSWORD})
    client.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert actions("second_factor.") == ["second_factor.failed"]
    assert AuditEvent.objects.get(action="second_factor.failed").target_id == str(ada.pk)


def test_turning_a_second_factor_off_is_recorded(client: Client, ada: User) -> None:
    client.post(reverse("login"), {"login": "ada", "password": PASSWORD})
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    TOTP.activate(ada, generate_totp_secret())
    client.post(reverse("mfa_deactivate_totp"))
    assert "second_factor.removed" in actions("second_factor.")
