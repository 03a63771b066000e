"""Signing in and the pages of an account in a real browser, passkeys by a virtual device of its."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, NewPage, screenshot

PASSWORD = "rivers under seven lanterns"
PAGES = {
    "login": "/accounts/login/",
    "reset": "/accounts/password/reset/",
    "signup": "/accounts/signup/",
    "overview": "/accounts/",
    "password": "/accounts/password/change/",
    "email": "/accounts/email/",
    "two-factor": "/accounts/2fa/",
    "passkeys": "/accounts/2fa/webauthn/",
    "sessions": "/accounts/sessions/",
    "tokens": "/accounts/tokens/",
    "reauthenticate": "/accounts/reauthenticate/",
}


@pytest.fixture
def owner(transactional_db: None) -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


@pytest.fixture
def page(new_page: NewPage, site: str, owner: User) -> Page:
    """Return a page of a browser with a device for passkeys, which belong to a name."""
    page = new_page(base_url=site.replace("127.0.0.1", "localhost"))
    devices: Any = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return page


def sign_in(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Username or e-mail").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def add_passkey(page: Page, *, alone: bool) -> None:
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("without a password").set_checked(alone)
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url("**/recovery-codes/**")


def sign_out(page: Page) -> None:
    page.goto("/accounts/")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/accounts/login/**")


def test_a_passkey_signs_in_without_a_password(page: Page) -> None:
    sign_in(page)
    page.wait_for_url("**/")
    add_passkey(page, alone=True)
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_text("Laptop")).to_be_visible()
    screenshot(page, "passkeys")
    sign_out(page)

    page.get_by_role("button", name="Sign in with a passkey").click()

    expect(page.get_by_label("Your question")).to_be_visible()
    assert Authenticator.objects.filter(type="webauthn", last_used_at__isnull=False).exists()


def test_a_security_key_is_the_second_factor_after_the_password(page: Page) -> None:
    sign_in(page)
    page.wait_for_url("**/")
    add_passkey(page, alone=False)
    sign_out(page)

    sign_in(page)
    page.get_by_role("button", name="Use a passkey or security key").click()

    expect(page.get_by_label("Your question")).to_be_visible()


def test_a_passkey_that_is_not_there_is_told_in_words(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("That did not work")


def test_where_browsers_offer_no_passkeys_pages_do_not(new_page: NewPage) -> None:
    page = new_page()
    page.goto("/accounts/login/")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()


def test_the_way_from_the_chat_to_the_account(new_page: NewPage, owner: User) -> None:
    page = new_page(owner)
    page.goto("/")
    page.get_by_role("button", name="ada").click()
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    page.get_by_role("link", name="ragsite").click()
    expect(page.get_by_label("Your question")).to_be_visible()


@pytest.mark.parametrize("width", [320, 390])
def test_no_page_is_wider_than_a_phone(new_page: NewPage, owner: User, width: int) -> None:
    for user in (None, owner):
        page = new_page(user, viewport={**PHONE, "width": width}, has_touch=True, is_mobile=True)
        for name, address in PAGES.items():
            page.goto(address)
            assert page.evaluate("document.documentElement.scrollWidth") == width, name
