"""Which passwords are refused, and why."""

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError


@pytest.mark.parametrize(
    "password",
    ["short1!", "password1234", "qwertyuiopas", "1234567890123", "aaaaaaaaaaaa", "ragsite2026"],
)
def test_what_is_guessed_soon_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password)


@pytest.mark.parametrize("password", ["rivers under seven lanterns", "vT9!kq2#Lm0"])
def test_what_is_not_is_taken(password: str) -> None:
    validate_password(password)


def test_a_persons_own_name_makes_a_weak_password() -> None:
    user = User(username="a.birgersdottir", first_name="Annika", last_name="Birgersdottir")
    validate_password("Annika Birgersdottir")
    with pytest.raises(ValidationError):
        validate_password("Annika Birgersdottir", user)


def test_a_very_long_password_is_looked_at_in_no_time() -> None:
    validate_password("rivers under seven lanterns " * 1000)
