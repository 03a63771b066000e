"""The admin's page of embedding spaces."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from procrastinate.contrib.django.models import ProcrastinateJob

from retrieval.models import EmbeddingSpace, SpaceState

LIST = "admin:retrieval_embeddingspace_changelist"


@pytest.fixture
def spaces(db: None) -> tuple[EmbeddingSpace, EmbeddingSpace]:
    """One that is searched, one that is not."""
    create = EmbeddingSpace.objects.create
    backend = {"backend": "tests.fakes.HashEmbedder"}
    searched = create(model="multilingual-e5-small", dimensions=384, state="active")
    return searched, create(model="hash", dimensions=256, **backend)


def url(name: str, space: EmbeddingSpace) -> str:
    return reverse(f"admin:retrieval_embeddingspace_{name}", args=[space.pk])


def staff(*permissions: str) -> Client:
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def test_list_shows_states_and_buttons(
    admin_client: Client, spaces: tuple[EmbeddingSpace, EmbeddingSpace]
) -> None:
    """Model, state, progress, and a button for the space that is not searched."""
    page = admin_client.get(reverse(LIST)).content.decode()
    assert "multilingual-e5-small" in page
    assert "0 of 0" in page
    assert f'formaction="{url("switch", spaces[1])}"' in page
    assert url("switch", spaces[0]) not in page
    assert "hx-get" not in page


def test_switch_begins_the_filling(
    admin_client: Client, spaces: tuple[EmbeddingSpace, EmbeddingSpace]
) -> None:
    """A space without its index is filled first; the page then follows it."""
    page = admin_client.post(url("switch", spaces[1]), follow=True).content.decode()
    assert "hash (256) is being filled" in page
    assert "hx-get" in page
    spaces[1].refresh_from_db()
    assert spaces[1].state == SpaceState.FILLING
    assert ProcrastinateJob.objects.filter(task_name="retrieval.fill_space").exists()
    admin_client.post(url("cancel", spaces[1]))
    spaces[1].refresh_from_db()
    assert spaces[1].state == SpaceState.KEPT


def test_complete_space_is_switched_to_at_once(
    admin_client: Client, spaces: tuple[EmbeddingSpace, EmbeddingSpace]
) -> None:
    """And the other one can be rolled back to."""
    EmbeddingSpace.objects.update(indexed=True)
    EmbeddingSpace.objects.filter(pk=spaces[0].pk).update(activated_at="2026-01-01T00:00Z")
    page = admin_client.post(url("switch", spaces[1]), follow=True).content.decode()
    assert "hash (256) is searched now" in page
    assert "Roll back" in page


def test_unusable_model_is_told(
    admin_client: Client, spaces: tuple[EmbeddingSpace, EmbeddingSpace]
) -> None:
    """A space whose model cannot be made is not switched to."""
    EmbeddingSpace.objects.filter(pk=spaces[1].pk).update(model="gone", backend="no.such.Class")
    page = admin_client.post(url("switch", spaces[1]), follow=True).content.decode()
    assert "a package that it needs is not installed" in page


@pytest.mark.django_db(transaction=True)
def test_deleting_asks_first(
    admin_client: Client, spaces: tuple[EmbeddingSpace, EmbeddingSpace]
) -> None:
    """The first page asks, its button deletes."""
    assert b"Yes, delete it" in admin_client.get(url("remove", spaces[1])).content
    assert EmbeddingSpace.objects.count() == 2
    admin_client.post(url("remove", spaces[1]))
    assert list(EmbeddingSpace.objects.all()) == [spaces[0]]


def test_only_by_post(admin_client: Client, spaces: tuple[EmbeddingSpace, EmbeddingSpace]) -> None:
    """A link changes nothing."""
    for name in ("switch", "cancel"):
        assert admin_client.get(url(name, spaces[1])).status_code == 405


@pytest.mark.parametrize("name", ["switch", "cancel", "remove"])
def test_permission_is_needed(name: str, spaces: tuple[EmbeddingSpace, EmbeddingSpace]) -> None:
    """Whoever may look may not change or delete."""
    client = staff("view_embeddingspace")
    assert client.get(reverse(LIST)).status_code == 200
    assert client.post(url(name, spaces[1])).status_code == 403


def test_permission_suffices(spaces: tuple[EmbeddingSpace, EmbeddingSpace]) -> None:
    """The permission to change lets switch."""
    client = staff("view_embeddingspace", "change_embeddingspace")
    assert client.post(url("switch", spaces[1])).status_code == 302
    spaces[1].refresh_from_db()
    assert spaces[1].state == SpaceState.FILLING
