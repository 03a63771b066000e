"""What people used is forgotten when it counts no more."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone

from retrieval import expiry
from retrieval.ingestion.uploads import add_document
from retrieval.limits.models import Charge, StoredFile
from retrieval.models import Collection

pytestmark = pytest.mark.django_db


def old(name: str) -> int:
    kind = next(kind for kind in expiry.kinds if kind.name == name)
    until = kind.until()
    assert until is not None
    return kind.remove(kind.old(until))


def test_charges_of_the_day_before_yesterday_go() -> None:
    now = timezone.now()
    for days in (0, 1, 3):
        Charge.objects.create(run=uuid4(), asked_at=now - timedelta(days=days), tokens=days)
    assert old("charges of questions") == 1
    assert set(Charge.objects.values_list("tokens", flat=True)) == {0, 1}


def test_files_count_for_as_long_as_they_are_there() -> None:
    ada = User.objects.create_user("ada")
    library = Collection.objects.create(name="Library")
    kept, gone = (
        add_document(library, name, ContentFile(name.encode(), name), ada)
        for name in ("a.txt", "b.txt")
    )
    gone.document.delete()
    assert old("counts of deleted files") == 0
    StoredFile.objects.update(uploaded_at=timezone.now() - timedelta(days=3))
    assert old("counts of deleted files") == 1
    assert StoredFile.objects.get().version == kept.version
