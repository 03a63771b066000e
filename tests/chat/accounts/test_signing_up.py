"""What goes by mail: signing up, new passwords, other addresses."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.chat.accounts.entering import LOGIN, PASSWORD, is_signed_in, sign_in

pytestmark = pytest.mark.django_db

LINK = re.compile(r"https?://testserver(/accounts/\S+)")


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


@pytest.fixture
def with_mail(settings: Settings) -> None:
    """Let the site send mail, to where tests find it."""
    settings.EMAIL_URL = "smtp://mail.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture
def with_sign_up(with_mail: None, settings: Settings) -> None:
    settings.SIGN_UP = True


def sign_up(client: Client, email: str) -> str:
    form = {"email": email, "password1": PASSWORD, "password2": PASSWORD}
    response = client.post(reverse("account_signup"), form, follow=True)
    return response.content.decode()


def link_in(mail: EmailMessage) -> str:
    found = LINK.search(str(mail.body))
    assert found is not None, mail.body
    return found[1]


def test_sign_up_is_closed_by_default(client: Client) -> None:
    assert "made by administrators" in client.get("/accounts/signup/").content.decode()
    sign_up(client, "eve@example.org")
    assert not User.objects.exists()
    assert "Sign up" not in client.get(LOGIN).content.decode()


def test_who_signs_up_gets_in_after_confirming_the_address(
    with_sign_up: None, client: Client, mailoutbox: list[EmailMessage]
) -> None:
    assert "Confirm your address" in sign_up(client, "eve@example.org")
    sign_in(client, "eve@example.org")
    assert not is_signed_in(client)

    client.post(link_in(mailoutbox[0]))
    sign_in(client, "eve@example.org")

    assert is_signed_in(client)


def test_who_signed_up_must_confirm_also_after_sign_up_was_closed(
    with_sign_up: None, client: Client, settings: Settings
) -> None:
    sign_up(client, "eve@example.org")
    settings.SIGN_UP = False
    sign_in(client, User.objects.get().username)
    assert not is_signed_in(client)


@pytest.mark.parametrize("email", ["eve@evil.example", "eve@example.org.evil.example"])
def test_only_addresses_of_the_domains_may_sign_up(
    with_sign_up: None, client: Client, settings: Settings, email: str
) -> None:
    settings.SIGN_UP_DOMAINS = ["example.org"]
    assert "Only addresses of example.org" in sign_up(client, email)
    assert not User.objects.exists()
    sign_up(client, "eve@Example.ORG")
    assert User.objects.exists()


def test_signing_up_does_not_tell_who_has_an_account(
    with_sign_up: None, ada: User, mailoutbox: list[EmailMessage]
) -> None:
    of_taken, of_free = sign_up(Client(), ada.email), sign_up(Client(), "eve@example.org")
    without_address = re.compile(r"\S+@example.org|csrfmiddlewaretoken.*")
    assert without_address.sub("", of_taken) == without_address.sub("", of_free)
    assert [mail.to for mail in mailoutbox] == [[ada.email], ["eve@example.org"]]
    assert User.objects.filter(email=ada.email).count() == 1


def test_nobody_who_signs_up_is_named_like_a_guest(with_sign_up: None, client: Client) -> None:
    sign_up(client, "guest-0192aaaa@example.org")
    assert not User.objects.get().username.startswith("guest-")


def test_an_address_that_an_administrator_gave_needs_no_confirming(
    with_sign_up: None, client: Client, ada: User
) -> None:
    sign_in(client, "ada@example.org")
    assert is_signed_in(client)


def test_a_password_is_set_anew_by_mail(
    with_mail: None, client: Client, ada: User, mailoutbox: list[EmailMessage]
) -> None:
    client.post(reverse("account_reset_password"), {"email": "ada@example.org"})
    form = client.get(link_in(mailoutbox[0]), follow=True)
    new = "seven lanterns over rivers"

    client.post(form.request["PATH_INFO"], {"password1": new, "password2": new})
    sign_in(client, "ada", new)

    assert is_signed_in(client)
    assert EmailAddress.objects.get().verified


def test_a_link_of_a_reset_works_once(
    with_mail: None, client: Client, ada: User, mailoutbox: list[EmailMessage]
) -> None:
    client.post(reverse("account_reset_password"), {"email": "ada@example.org"})
    link, new = link_in(mailoutbox[0]), "seven lanterns over rivers"
    form = client.get(link, follow=True)
    client.post(form.request["PATH_INFO"], {"password1": new, "password2": new})

    assert "does not work" in Client().get(link, follow=True).content.decode()


def test_links_in_mail_lead_to_the_public_address(
    with_sign_up: None, ada: User, settings: Settings, mailoutbox: list[EmailMessage]
) -> None:
    settings.PUBLIC_URL = "https://rag.example.org:8443"
    client = Client(HTTP_HOST="testserver:6666")
    client.post(reverse("account_reset_password"), {"email": "ada@example.org"})
    sign_up(client, "bob@example.org")
    sign_up(client, "ada@example.org")
    assert len(mailoutbox) == 3
    for mail in mailoutbox:
        assert "https://rag.example.org:8443/accounts/" in mail.body
        assert "testserver" not in f"{mail.subject}{mail.body}"


def test_asking_for_a_reset_does_not_tell_who_has_an_account(
    with_mail: None, ada: User, mailoutbox: list[EmailMessage]
) -> None:
    address = reverse("account_reset_password")
    pages = [
        Client().post(address, {"email": email}, follow=True).content
        for email in ("ada@example.org", "nobody@example.org")
    ]
    assert pages[0] == pages[1]
    # Sending takes time: a mail to one of them only would tell by how long it takes.
    assert [mail.to for mail in mailoutbox] == [["ada@example.org"], ["nobody@example.org"]]


def test_without_mail_one_is_told_whom_to_ask(
    client: Client, ada: User, settings: Settings, mailoutbox: list[EmailMessage]
) -> None:
    settings.CONTACT_EMAIL = "help@example.org"
    address = reverse("account_reset_password")
    for page in (client.get(address), client.post(address, {"email": "ada@example.org"})):
        assert "help@example.org" in page.content.decode()
    assert not mailoutbox


def test_a_weak_password_is_refused_with_the_reason(client: Client, ada: User) -> None:
    client.force_login(ada)
    weak = "Password1234"
    form = {"oldpassword": PASSWORD, "password1": weak, "password2": weak}
    page = client.post(reverse("account_change_password"), form).content.decode()
    assert "commonly used password" in page
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_the_owner_is_told_by_mail_of_a_new_password(
    with_mail: None, client: Client, ada: User, settings: Settings, mailoutbox: list[EmailMessage]
) -> None:
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    EmailAddress.objects.create(user=ada, email=ada.email, verified=True, primary=True)
    client.force_login(ada)
    new = "seven lanterns over rivers"
    client.post(
        reverse("account_change_password"),
        {"oldpassword": PASSWORD, "password1": new, "password2": new},
    )
    assert [mail.to for mail in mailoutbox] == [["ada@example.org"]]


def test_addresses_are_changed_only_by_who_confirms_to_be_the_owner(
    with_mail: None, client: Client, ada: User
) -> None:
    client.force_login(ada)
    response = client.post(
        reverse("account_email"), {"email": "eve@evil.example", "action_add": ""}
    )
    assert response["Location"].startswith("/accounts/reauthenticate/")
    assert not EmailAddress.objects.filter(email="eve@evil.example").exists()
