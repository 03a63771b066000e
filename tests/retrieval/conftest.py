"""What tests of the admin share: a collection, documents in it, and people with few rights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.base import ContentFile
from django.test import Client

from retrieval.ingestion.uploads import Upload, add_document
from retrieval.models import Collection, Document, DocumentVersion, Stage

Upload_ = Callable[[str, bytes], Upload]
Staff = Callable[..., Client]


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    """Store files where the test can look."""
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def collection(db: None) -> Collection:
    return Collection.objects.create(name="Test")


@pytest.fixture
def upload(collection: Collection, media: Path) -> Callable[[str, bytes], Upload]:
    """Return a function that uploads a file."""
    return lambda name, content: add_document(collection, name, ContentFile(content, name))


@pytest.fixture
def staff(db: None) -> Staff:
    """Return a function that signs in someone with these permissions, who manages everything."""

    def sign_in(*permissions: str) -> Client:
        user = User.objects.create_user(f"staff-{User.objects.count()}", is_staff=True)
        user.user_permissions.set(
            Permission.objects.filter(codename__in=[*permissions, "manage_all_collections"])
        )
        client = Client()
        client.force_login(user)
        return client

    return sign_in


def ready(document: Document, **fields: Any) -> DocumentVersion:
    """Let a document's newest version be ready and searched."""
    version = document.versions.order_by("-number")[0]
    for name, value in {"stage": Stage.READY, **fields}.items():
        setattr(version, name, value)
    version.save()
    Document.objects.filter(pk=document.pk).update(current_version=version)
    return version
