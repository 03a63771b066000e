"""Who stands at the doors, and what lies behind them."""

from __future__ import annotations

from typing import Any, NamedTuple

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile
from django.db.models import Model
from django.test import Client

from chat.accounts.models import ApiToken
from chat.models import Assistant, AssistantVersion, Conversation, Run
from retrieval.limits.models import Limit
from retrieval.models import Collection, DocumentVersion, EmbeddingSpace, Visibility
from tests import conversations

# In the order of the matrix's columns.
ANONYMOUS, OWNER, OTHER, REVIEWER = "anonymous", "owner", "other", "reviewer"
MANAGER, OTHER_MANAGER = "manager", "other_manager"
ADMINISTRATOR, SUPERUSER = "administrator", "superuser"
PEOPLE = (
    ANONYMOUS, OWNER, OTHER, REVIEWER, MANAGER, OTHER_MANAGER, ADMINISTRATOR, SUPERUSER,
)  # fmt: skip

EVERYONE = frozenset(PEOPLE)
SIGNED_IN = EVERYONE - {ANONYMOUS}
STAFF = frozenset({REVIEWER, MANAGER, OTHER_MANAGER, ADMINISTRATOR, SUPERUSER})
ADMINISTRATORS = frozenset({ADMINISTRATOR, SUPERUSER})
MANAGERS = ADMINISTRATORS | {MANAGER}
ANY_MANAGER = MANAGERS | {OTHER_MANAGER}
REVIEWERS = ADMINISTRATORS | {REVIEWER}
NOBODY: frozenset[str] = frozenset()

ROLES = {
    REVIEWER: "Reviewers",
    MANAGER: "Collection managers",
    OTHER_MANAGER: "Collection managers",
    ADMINISTRATOR: "Administrators",
}


class World(NamedTuple):
    """One of everything, each somebody's."""

    users: dict[str, User]
    collection: Collection
    run: Run
    assistant: Assistant

    @property
    def conversation(self) -> Conversation:
        """The owner's conversation."""
        return self.run.conversation

    @property
    def version(self) -> DocumentVersion:
        """The one document, which the owner may read and the manager looks after."""
        return DocumentVersion.objects.select_related("document").get()

    def one_of(self, model: type[Model]) -> Model:
        """Return a thing of that kind, the owner's or in the collection where it is anybody's."""
        return model._default_manager.filter(**OWNED.get(model, {})).order_by("pk")[0]

    def client(self, person: str) -> Client:
        """Return a browser in which that person has signed in."""
        client = Client()
        if person != ANONYMOUS:
            client.force_login(self.users[person])
        return client


# How to find the thing of a kind that stands for it, where any will not do.
OWNED: dict[type[Model], dict[str, Any]] = {
    User: {"username": OTHER},
    Collection: {"name": "Samples"},
    UserSession: {"user__username": OWNER},
}


def make_world() -> World:
    """Make people of every kind, and what the owner and the manager may see: nobody else may.

    The owner reads the collection by a group; the manager looks after it; the other manager looks
    after another one.
    """
    users = {name: make_user(name) for name in PEOPLE if name != ANONYMOUS}
    version = conversations.document()
    collection = version.document.collection
    collection.visibility = Visibility.RESTRICTED
    collection.save()
    readers = Group.objects.create(name="Lighthouse keepers")
    readers.user_set.add(users[OWNER])
    Group.objects.create(name="Others").user_set.add(users[OTHER])
    collection.reader_groups.add(readers)
    collection.managers.add(users[MANAGER])
    elsewhere = Collection.objects.create(name="Elsewhere", visibility=Visibility.RESTRICTED)
    elsewhere.managers.add(users[OTHER_MANAGER])
    assistant = Assistant.objects.create(name="Keeper", visibility=Visibility.RESTRICTED)
    assistant.groups.add(readers)
    AssistantVersion.objects.get_or_create(
        assistant=assistant, number=1, defaults={"configuration": {}}
    )
    run = conversations.answered(users[OWNER], version=version)
    version.file.save("lighthouses.txt", ContentFile(version.text))
    make_belongings(users[OWNER])
    return World(users, collection, run, assistant)


def make_belongings(owner: User) -> None:
    """Make one of everything else that the admin lists, the owner's where it is anybody's."""
    ApiToken.objects.create(user=owner, name="Script", start="rs_1", digest="1", scopes=["ask"])
    EmailAddress.objects.create(user=owner, email=owner.email)
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={"secret": ""})
    SocialAccount.objects.create(user=owner, provider="oidc", uid="1")
    UserSession.objects.create(user=owner, ip="127.0.0.1", session_key="1", user_agent="A browser")
    Limit.objects.create(user=owner, questions_a_minute=10)
    EmbeddingSpace.objects.create(model="small", dimensions=3)


def make_user(name: str) -> User:
    """Make someone of a role, without a password."""
    flags: dict[str, Any] = {"is_staff": name in STAFF, "is_superuser": name == SUPERUSER}
    user = User.objects.create_user(name, email=f"{name}@example.org", **flags)
    if role := ROLES.get(name):
        user.groups.add(Group.objects.get(name=role))
    return user
