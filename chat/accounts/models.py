"""Guests, and the tokens of programs."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import User, UserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from uuid_utils.compat import uuid7

GUEST_PREFIX = "guest-"
"""What the usernames of guests begin with; nobody who signs up gets such a name."""
GUEST_NAME = f"^{GUEST_PREFIX}[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$"


class GuestManager(UserManager["Guest"]):
    """The rows of guests among those of people."""

    use_in_migrations = False

    def get_queryset(self) -> models.QuerySet[Guest]:
        """Return guests, and nobody who has an account."""
        guests = {"username__startswith": GUEST_PREFIX, "username__regex": GUEST_NAME}
        return super().get_queryset().filter(**guests, is_active=False)

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


class Scope(models.TextChoices):
    """What a token is good for; its owner's rights limit each of them."""

    ASK = "ask", "Ask questions, and read what is answered"
    SEARCH = "search", "Search documents"
    CONVERSATIONS = "conversations", "Read, rename and delete conversations"
    DOCUMENTS_READ = "documents:read", "List and download documents"
    DOCUMENTS_WRITE = "documents:write", "Upload, change and delete documents"


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Tokens by whether they can be used."""

    def in_force(self) -> ApiTokenQuerySet:
        """Keep tokens that are neither revoked nor expired, of people who may sign in."""
        unexpired = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, revoked_at=None, user__is_active=True)


class ApiToken(models.Model):
    """What a program signs in with in place of a person; the secret itself is not stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100, help_text="What it is for.")
    start = models.CharField(max_length=16, help_text="Its first characters, to know it by.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes: ArrayField[list[str], list[str]] = ArrayField(
        models.CharField(max_length=40, choices=Scope.choices)
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_address = models.GenericIPAddressField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"

    @property
    def state(self) -> str:
        """Whether it can be used: `in force`, `revoked` or `expired`."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= timezone.now():
            return "expired"
        return "in force"

    def scope_names(self) -> list[str]:
        """Say in words what it is good for."""
        return [Scope(scope).label for scope in self.scopes if scope in Scope.values]

    def revoke(self) -> None:
        """Make it useless from now on."""
        if self.revoked_at is None:
            self.revoked_at = timezone.now()
            self.save(update_fields=["revoked_at"])


class RememberedRequest(models.Model):
    """A request of a program with a key, and what it was answered: the same again gets the same."""

    KEPT = timedelta(days=1)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="Of what was asked for.")
    status = models.PositiveSmallIntegerField(default=0, help_text="0 while it is answered.")
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=["user", "key"], name="one_request_a_key"),)

    def __str__(self) -> str:
        return self.key
