"""Guests."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import User, UserManager
from django.db import models
from uuid_utils.compat import uuid7

GUEST_PREFIX = "guest-"
"""What the usernames of guests begin with; no account of a person may."""


class GuestManager(UserManager["Guest"]):
    """The rows of guests among those of people."""

    use_in_migrations = False

    def get_queryset(self) -> models.QuerySet[Guest]:
        """Return guests, and nobody who has an account."""
        return super().get_queryset().filter(username__startswith=GUEST_PREFIX, is_active=False)

    def create_guest(self) -> Guest:
        """Make the row of somebody who is not signed in, to which conversations can belong."""
        guest = self.model(username=f"{GUEST_PREFIX}{uuid7()}", is_active=False)
        guest.set_unusable_password()
        guest.save(using=self._db)
        return guest


class Guest(User):
    """Somebody who asks a public assistant without an account; never anybody's account."""

    objects: ClassVar[GuestManager] = GuestManager()

    address: int | None = None
    """A keyed hash of where a guest asks from, known while they do."""

    # What a row says otherwise does not count.
    is_staff = property(lambda _: False, lambda *_: None)
    is_superuser = property(lambda _: False, lambda *_: None)
    is_authenticated = property(lambda _: False)
    is_anonymous = property(lambda _: True)

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = "guest"
