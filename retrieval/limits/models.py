"""How much of what a person may use, and what they used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from retrieval.models import DocumentVersion

if TYPE_CHECKING:
    from retrieval.limits.quantities import Quantity


class Scope(models.TextChoices):
    """Whom a limit is for."""

    PERSON = "person", "One person"
    GROUP = "group", "Each member of a group"
    EVERYONE = "everyone", "Everyone who is signed in"
    GUEST = "guest", "Each guest, who is not signed in"
    ADDRESS = "address", "All guests of one address"


def quantity_field(
    verbose_name: str | None = None,
) -> models.BigIntegerField[int | None, int | None]:
    """Return the field of a quantity; NULL where a limit says nothing of it."""
    return models.BigIntegerField(
        verbose_name, null=True, blank=True, validators=[MinValueValidator(0)]
    )


class Limit(models.Model):
    """How much one person may use, each member of a group, or everyone.

    A quantity that is NULL is left to the next wider limit, in the end to the settings.
    """

    scope = models.CharField("for", max_length=20, choices=Scope.choices, default=Scope.PERSON)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    group = models.OneToOneField(
        Group, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    questions_a_minute = quantity_field()
    tokens_a_day = quantity_field()
    concurrent_runs = quantity_field("answers at the same time")
    uploads_a_day = quantity_field()
    storage_bytes = quantity_field("storage")

    class Meta:
        ordering = ("scope", "group__name", "user__username")
        constraints = (
            models.CheckConstraint(
                condition=Q(scope="person", user__isnull=False, group__isnull=True)
                | Q(scope="group", user__isnull=True, group__isnull=False)
                | Q(
                    scope__in=["everyone", "guest", "address"],
                    user__isnull=True,
                    group__isnull=True,
                ),
                name="limit_for_whom_it_says",
                violation_error_message="Choose the person or the group that this limit is for.",
            ),
            models.UniqueConstraint(
                fields=["scope"],
                condition=Q(scope__in=["everyone", "guest", "address"]),
                name="one_limit_a_scope",
                violation_error_message="There is a limit for these already: change that one.",
            ),
        )

    def __str__(self) -> str:
        return str(self.user or self.group or self.get_scope_display())

    def of(self, quantity: Quantity) -> int | None:
        """Return what this limit says of a quantity."""
        value: int | None = getattr(self, quantity.name)
        return value


class Charge(models.Model):
    """A question that was asked, and the tokens its answer took once that has ended.

    It outlives the conversation: deleting that gives nothing back. `address` is a keyed hash of
    where a guest asked from, `run` the id of the run.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,  # there is one below
    )
    address = models.BigIntegerField(null=True)
    run = models.UUIDField(unique=True)
    asked_at = models.DateTimeField()
    tokens = models.BigIntegerField(null=True, help_text="NULL while it is being answered.")

    class Meta:
        indexes = (
            models.Index(fields=["user", "asked_at"], include=["tokens"], name="charges_of_user"),
            models.Index(
                fields=["address", "asked_at"],
                include=["tokens"],
                condition=Q(address__isnull=False),
                name="charges_of_address",
            ),
        )

    def __str__(self) -> str:
        return f"{self.run}: {self.tokens}"


class StoredFile(models.Model):
    """A file that somebody uploaded; `version` is None once that is deleted."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,  # there is one below
    )
    version = models.OneToOneField(
        DocumentVersion, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    uploaded_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["user", "uploaded_at"], name="files_of_user"),)

    def __str__(self) -> str:
        return str(self.version_id)
