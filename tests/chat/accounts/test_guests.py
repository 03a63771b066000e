"""Somebody who asks without an account."""

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User

from chat.accounts.models import Guest
from chat.models import Conversation

pytestmark = pytest.mark.django_db


def test_a_guest_is_nobody_who_is_signed_in() -> None:
    guest = Guest.objects.create_guest()

    assert guest.is_anonymous
    assert not guest.is_authenticated
    assert not guest.is_active


def test_a_guest_has_no_password_to_sign_in_with() -> None:
    guest = Guest.objects.create_guest()

    assert not guest.has_usable_password()
    assert authenticate(username=guest.username, password="") is None


def test_a_guest_may_do_nothing_even_if_the_row_says_so() -> None:
    guest = Guest.objects.create_guest()
    User.objects.filter(pk=guest.pk).update(is_staff=True, is_superuser=True)

    again = Guest.objects.get(pk=guest.pk)

    assert not again.is_staff
    assert not again.is_superuser
    assert not again.has_perm("chat.view_conversation")


def test_conversations_belong_to_guests_as_to_people() -> None:
    guest = Guest.objects.create_guest()
    Conversation.objects.create(user=guest, title="When does it open?")

    conversation = Conversation.objects.get(user=guest)

    assert conversation.user == guest


def test_people_are_no_guests() -> None:
    User.objects.create_user("ada")
    User.objects.create_user("guest-house")
    User.objects.create_user("bea", is_active=False)

    assert not Guest.objects.exists()
