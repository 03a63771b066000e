"""Second factors: real codes of an authenticator app, recovery codes, and what is stored."""

import base64
import hmac
import re
import struct
import time
from typing import Any

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

pytestmark = pytest.mark.django_db

PASSWORD = "rivers under seven lanterns"
SECRET = re.compile(r'id="authenticator_secret" type="text" value="(\w+)"')


@pytest.fixture
def ada() -> User:
    return User.objects.create_superuser("ada", password=PASSWORD)


def code(secret: str) -> str:
    """Return what an authenticator app shows now, by RFC 6238."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.digest(base64.b32decode(secret), counter, "sha1")
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4]) & 0x7FFFFFFF
    return f"{number % 10**6:06}"


def sign_in(client: Client) -> Any:
    return client.post(reverse("login"), {"login": "ada", "password": PASSWORD})


def confirm(client: Client) -> None:
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})


@pytest.fixture
def secret(ada: User) -> str:
    secret: str = generate_totp_secret()
    TOTP.activate(ada, secret)
    RecoveryCodes.activate(ada)
    return secret


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_an_app_is_set_up_by_its_first_code_and_gives_recovery_codes(
    client: Client, ada: User
) -> None:
    sign_in(client)
    confirm(client)
    page = client.get(reverse("mfa_activate_totp")).content.decode()
    found = SECRET.search(page)
    assert found is not None
    assert "<svg" in page

    response = client.post(reverse("mfa_activate_totp"), {"code": code(found[1])})

    assert response["Location"] == reverse("mfa_view_recovery_codes")
    assert set(Authenticator.objects.values_list("type", flat=True)) == {"totp", "recovery_codes"}


def test_the_code_that_set_an_app_up_does_not_sign_in(client: Client, ada: User) -> None:
    sign_in(client)
    confirm(client)
    found = SECRET.search(client.get(reverse("mfa_activate_totp")).content.decode())
    assert found is not None
    used = code(found[1])
    client.post(reverse("mfa_activate_totp"), {"code": used})
    assert Authenticator.objects.filter(type="totp").exists()

    other = Client()
    sign_in(other)
    other.post(reverse("mfa_authenticate"), {"code": used})

    assert not is_signed_in(other)


def test_a_wrong_first_code_sets_nothing_up(client: Client, ada: User) -> None:
    sign_in(client)
    confirm(client)
    client.get(reverse("mfa_activate_totp"))
    client.post(reverse("mfa_activate_totp"), {"code": "000000"})
    assert not Authenticator.objects.exists()


def test_the_password_alone_is_not_enough_then(client: Client, secret: str) -> None:
    response = sign_in(client)
    assert response["Location"] == reverse("mfa_authenticate")
    assert not is_signed_in(client)


def test_the_code_lets_one_in(client: Client, secret: str) -> None:
    sign_in(client)
    client.post(reverse("mfa_authenticate"), {"code": code(secret)})
    assert is_signed_in(client)


def test_a_code_works_once(client: Client, secret: str) -> None:
    used = code(secret)
    sign_in(client)
    client.post(reverse("mfa_authenticate"), {"code": used})
    again = Client()
    sign_in(again)
    again.post(reverse("mfa_authenticate"), {"code": used})
    assert not is_signed_in(again)


def test_codes_cannot_be_guessed_for_long(client: Client, secret: str) -> None:
    sign_in(client)
    for _ in range(5):
        client.post(reverse("mfa_authenticate"), {"code": "000000"})
    client.post(reverse("mfa_authenticate"), {"code": code(secret)})
    assert not is_signed_in(client)


def test_a_recovery_code_lets_one_in_once(client: Client, ada: User, secret: str) -> None:
    stored = Authenticator.objects.get(user=ada, type="recovery_codes")
    recovery = RecoveryCodes(stored).get_unused_codes()[0]
    sign_in(client)
    client.post(reverse("mfa_authenticate"), {"code": recovery})
    assert is_signed_in(client)

    again = Client()
    sign_in(again)
    again.post(reverse("mfa_authenticate"), {"code": recovery})
    assert not is_signed_in(again)


def test_the_admin_asks_for_it_too(client: Client, secret: str) -> None:
    page = client.get("/admin/", follow=True)
    address = page.redirect_chain[-1][0]
    form = {"login": "ada", "password": PASSWORD, "next": "/admin/"}
    assert client.post(address, form)["Location"] == reverse("mfa_authenticate")
    assert client.get("/admin/").status_code == 302
    client.post(reverse("mfa_authenticate"), {"code": code(secret)})
    assert client.get("/admin/").status_code == 200


def test_it_is_turned_off_only_by_who_confirms_to_be_the_owner(
    client: Client, ada: User, secret: str
) -> None:
    client.force_login(ada)
    response = client.post(reverse("mfa_deactivate_totp"))
    assert response["Location"].startswith("/accounts/reauthenticate/")
    assert Authenticator.objects.filter(type="totp").exists()


def test_the_secret_is_stored_encrypted(secret: str) -> None:
    for stored in Authenticator.objects.all():
        assert secret not in str(stored.data)
        assert set(stored.data) <= {"secret", "seed", "used_mask"}


def test_a_new_secret_key_still_reads_what_the_one_before_wrote(settings: Settings) -> None:
    written = get_adapter().encrypt("JBSWY3DP")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another, as long as it has to be to be taken for a good one"
    assert get_adapter().decrypt(written) == "JBSWY3DP"
