"""What administrators see of the accounts of others, and take away."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from chat.accounts import tokens
from chat.accounts.models import ApiToken, Scope

pytestmark = pytest.mark.django_db

LIST = reverse("admin:accounts_apitoken_changelist")


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_the_tokens_of_all_are_listed_without_their_secrets(
    admin_client: Client, ada: User
) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])
    for address in (LIST, reverse("admin:accounts_apitoken_change", args=[token.pk])):
        page = text_of(admin_client, address)
        assert "Nightly" in page
        assert "ask" in page
        assert raw not in page
        assert token.digest not in page


def test_administrators_revoke_tokens(admin_client: Client, ada: User) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])
    form = {"action": "revoke", "_selected_action": [token.pk]}
    page = admin_client.post(LIST, form, follow=True).content.decode()
    assert "1 token is revoked." in page
    assert tokens.authenticate(raw) is None


def test_who_may_only_look_at_tokens_does_not_revoke_them(client: Client, ada: User) -> None:
    token, raw = tokens.make(ada, "Nightly", [Scope.ASK])
    looking = User.objects.create_user("leo", is_staff=True)
    looking.user_permissions.add(Permission.objects.get(codename="view_apitoken"))
    client.force_login(looking)
    client.post(LIST, {"action": "revoke", "_selected_action": [token.pk]})
    assert tokens.authenticate(raw) is not None


@pytest.mark.parametrize("page", ["add", "delete"])
def test_nobody_makes_or_deletes_the_token_of_another(
    admin_client: Client, ada: User, page: str
) -> None:
    token, _ = tokens.make(ada, "Nightly", [Scope.ASK])
    keys = [] if page == "add" else [token.pk]
    address = reverse(f"admin:accounts_apitoken_{page}", args=keys)
    assert admin_client.post(address, {"post": "yes"}).status_code == 403
    assert ApiToken.objects.count() == 1


def test_a_lost_second_factor_is_taken_away_and_its_secret_not_shown(
    admin_client: Client, ada: User
) -> None:
    TOTP.activate(ada, generate_totp_secret())
    stored = Authenticator.objects.get()
    page = text_of(admin_client, reverse("admin:mfa_authenticator_change", args=[stored.pk]))
    assert stored.data["secret"] not in page
    address = reverse("admin:mfa_authenticator_delete", args=[stored.pk])
    admin_client.post(address, {"post": "yes"})
    assert not Authenticator.objects.exists()


def test_deleting_a_session_signs_it_out(admin_client: Client, ada: User) -> None:
    ada.set_password("rivers under seven lanterns")
    ada.save()
    client = Client()
    form = {"login": "ada", "password": "rivers under seven lanterns"}
    client.post(reverse("login"), form)
    session = UserSession.objects.get(user=ada)
    address = reverse("admin:usersessions_usersession_delete", args=[session.pk])
    admin_client.post(address, {"post": "yes"})
    assert client.get(reverse("accounts:overview")).status_code == 302


@pytest.mark.parametrize(
    "model", ["account_emailaddress", "mfa_authenticator", "usersessions_usersession",
              "socialaccount_socialaccount", "accounts_apitoken"],
)  # fmt: skip
def test_every_list_shows(admin_client: Client, model: str) -> None:
    text_of(admin_client, reverse(f"admin:{model}_changelist"))


def test_only_superusers_take_a_superusers_second_factor_away(
    client: Client, admin_user: User, ada: User
) -> None:
    for owner in (admin_user, ada):
        TOTP.activate(owner, generate_totp_secret())
    helping = User.objects.create_user("leo", is_staff=True)
    codenames = ["view_authenticator", "delete_authenticator"]
    helping.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(helping)
    changelist = reverse("admin:mfa_authenticator_changelist")
    for stored in Authenticator.objects.all():
        client.post(reverse("admin:mfa_authenticator_delete", args=[stored.pk]), {"post": "yes"})
        selected = {"action": "delete_selected", "_selected_action": [stored.pk], "post": "yes"}
        client.post(changelist, selected)
    assert Authenticator.objects.get().user == admin_user
