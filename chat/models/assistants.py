"""Assistants, who may use them, and their versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from uuid_utils.compat import uuid7

from retrieval.models import Collection
from retrieval.models.rights import holds, is_known, named

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

CHANGE = "chat.change_assistant"
PUBLISH = "chat.publish_assistant"
CHOOSE_ANY_MODEL = "chat.choose_any_model"

# What decides an answer: a change of any of these makes a new version. Names and greetings do
# not, and who may use an assistant is never brought back with an old version of it.
CONFIGURATION = (
    "instructions",
    "rewrites",
    "search_settings",
    "model",
    "generation",
    "answers_without_sources",
)


class Audience(models.TextChoices):
    """Who may use an assistant; the values are those of a collection's visibility."""

    RESTRICTED = "restricted", "The people and groups named here"
    SIGNED_IN = "signed_in", "Everyone signed in"
    PUBLIC = "public", "Public: also who has not signed in"


class AssistantQuerySet(models.QuerySet["Assistant"]):
    """Assistants as people may use them; conditions are SQL, made without asking for anything."""

    def usable_by(self, user: User | AnonymousUser) -> AssistantQuerySet:
        """Keep the assistants a person may ask; who is not active is the public."""
        if not is_known(user):
            return self.filter(visibility=Audience.PUBLIC)
        if user.is_superuser:
            return self
        return self.filter(
            models.Q(visibility__in=[Audience.SIGNED_IN, Audience.PUBLIC])
            | named(user, Assistant, "users", "groups")
            | holds(user, CHANGE)
        )

    def preferred(self) -> AssistantQuerySet:
        """Put the one first that answers where no other is named: the default one, if it is here.

        Otherwise it is the first by name.
        """
        return self.order_by("-is_default", "name")


class Assistant(models.Model):
    """A configured persona: instructions, collections, search settings, a generator's model."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=100, unique=True)
    instructions = models.TextField(blank=True, help_text="Added to the system prompt.")
    collections = models.ManyToManyField(
        Collection,
        blank=True,
        help_text="What it searches, as far as whoever asks may see it; none means all of that.",
    )
    search_settings = models.JSONField(default=dict, blank=True)
    greeting = models.CharField(max_length=300, blank=True)
    suggested_questions = models.JSONField(default=list, blank=True)
    model = models.CharField(
        max_length=200,
        blank=True,
        help_text="The generator's name of the model that writes; blank for the configured one.",
    )
    allowed_models: ArrayField[list[str], list[str]] = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="Other models that a question may choose, separated by commas.",
    )
    generation = models.JSONField(default=dict, blank=True)
    rewrites = models.BooleanField(
        "rewrites questions",
        default=True,
        help_text="A question that goes on with others is searched for as it would stand by"
        " itself; what was typed stays as it is.",
    )
    answers_without_sources = models.BooleanField(
        "may answer without sources",
        default=False,
        help_text="Where the documents hold no answer the model gives its own, and the page says"
        " so. Off, the answer is that the documents do not answer the question.",
    )
    visibility = models.CharField(
        "who may use it", max_length=20, choices=Audience.choices, default=Audience.SIGNED_IN
    )
    users = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="+",
        help_text="People who may use it, whoever else may.",
    )
    groups = models.ManyToManyField(
        Group, blank=True, related_name="+", help_text="All in these groups may use it."
    )
    is_default = models.BooleanField(default=False)

    objects = AssistantQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        permissions = (
            ("publish_assistant", "Can make an assistant public"),
            ("choose_any_model", "Can choose any model for a question"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["is_default"],
                condition=models.Q(is_default=True),
                name="one_default_assistant",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def version(self) -> AssistantVersion | None:
        """The newest version, which answers now; None if none was recorded."""
        return self.versions.order_by("-number").first()

    def configuration(self) -> dict[str, Any]:
        """Return what decides its answers, as JSON."""
        collections = self.collections.order_by("pk").values_list("pk", flat=True)
        return {
            **{field: getattr(self, field) for field in CONFIGURATION},
            "collections": [str(pk) for pk in collections],
        }

    def record_version(self, by: User | None = None) -> AssistantVersion:
        """Return the version that answers from now on, a new one if anything of it has changed.

        Whatever changes an assistant calls this behind it, in the same transaction.
        """
        with transaction.atomic():
            # Two who save at once wait for each other.
            Assistant.objects.select_for_update(of=("self",)).get(pk=self.pk)
            newest = self.version
            configuration = self.configuration()
            if newest and newest.configuration == configuration:
                return newest
            return AssistantVersion.objects.create(
                assistant=self,
                name=self.name,
                number=newest.number + 1 if newest else 1,
                configuration=configuration,
                created_by=by,
            )


class AssistantVersion(models.Model):
    """What decided an assistant's answers from a moment on; it never changes.

    It stays, with the name, when its assistant is deleted, for the answers that it gave.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    assistant = models.ForeignKey(
        Assistant, null=True, on_delete=models.SET_NULL, related_name="versions"
    )
    name = models.CharField(max_length=100, help_text="The assistant's at that time.")
    number = models.PositiveIntegerField(help_text="1, 2, 3 … of the assistant.")
    configuration = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ("-created_at",)
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=["assistant", "number"], name="one_version_of_a_number"),
        )

    def __str__(self) -> str:
        return f"{self.name}, version {self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store it, once. Raises TypeError for a version that is stored."""
        if not self._state.adding:
            raise TypeError("A version of an assistant never changes.")
        super().save(*args, **kwargs)

    def delete(self, *_: object, **__: object) -> NoReturn:
        """Refuse. Raises TypeError."""
        raise TypeError("A version of an assistant is kept for the answers that it gave.")
