"""Collections, and who may see and manage them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from uuid_utils.compat import uuid7

from retrieval.models.rights import holds, is_known, named

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

SEE_ALL = "retrieval.see_all_collections"
MANAGE_ALL = "retrieval.manage_all_collections"
PUBLISH = "retrieval.publish_collection"


class Visibility(models.TextChoices):
    """Who may search a collection, beside its readers and managers."""

    RESTRICTED = "restricted", "Its readers only"
    SIGNED_IN = "signed_in", "Everyone signed in"
    PUBLIC = "public", "Public: also who has not signed in"


class CollectionQuerySet(models.QuerySet["Collection"]):
    """Collections as people may see them; conditions are SQL, made without asking for anything."""

    def visible_to(self, user: User | AnonymousUser) -> CollectionQuerySet:
        """Keep the collections a person may search; who is not active is the public."""
        if not is_known(user):
            return self.filter(visibility=Visibility.PUBLIC)
        if user.is_superuser:
            return self
        return self.filter(
            models.Q(visibility__in=[Visibility.SIGNED_IN, Visibility.PUBLIC])
            | named(user, Collection, "readers", "reader_groups")
            | named(user, Collection, "managers", "manager_groups")
            | holds(user, SEE_ALL, MANAGE_ALL)
        )

    def managed_by(self, user: User | AnonymousUser) -> CollectionQuerySet:
        """Keep the collections whose documents a person may add, change and delete.

        What they may do in the admin is for their permissions to say.
        """
        if not is_known(user):
            return self.none()
        if user.is_superuser:
            return self
        return self.filter(
            named(user, Collection, "managers", "manager_groups") | holds(user, MANAGE_ALL)
        )


class Collection(models.Model):
    """A set of documents that are searched, and made visible, together."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200, unique=True)
    description = models.TextField(blank=True)
    visibility = models.CharField(
        max_length=20, choices=Visibility.choices, default=Visibility.SIGNED_IN
    )
    readers = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="+",
        help_text="People who may search it, whoever else may.",
    )
    reader_groups = models.ManyToManyField(
        Group, blank=True, related_name="+", help_text="All in these groups may search it."
    )
    managers = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="+",
        help_text="People who look after it: its documents, its description, and its readers.",
    )
    manager_groups = models.ManyToManyField(
        Group, blank=True, related_name="+", help_text="All in these groups look after it."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        permissions = (
            ("see_all_collections", "Can search every collection"),
            ("manage_all_collections", "Can manage every collection"),
            ("publish_collection", "Can make a collection public"),
        )

    def __str__(self) -> str:
        return self.name
