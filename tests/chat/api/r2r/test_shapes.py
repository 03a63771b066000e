"""Documents, chunks and the like as R2R's SDK takes them."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from chat.api.r2r import shapes
from chat.api.r2r.wire import person_id
from retrieval.models import Document, DocumentVersion, Stage
from tests.chat.api.r2r import sdk

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def document(name: str = "a.txt", uploaded_by: int | None = 7, **version: Any) -> Any:
    """Return a document as the SDK has it."""
    found = Document(
        collection_id=UUID(int=1),
        name=name,
        title="A",
        uploaded_by_id=uploaded_by,
        created_at=NOW,
        metadata={"year": 2020, "date": "2021"},
    )
    newest = DocumentVersion(
        document=found,
        number=3,
        size=5,
        created_at=NOW,
        metadata={"author": ["Ann"], "date": "2020"},
        **version,
    )
    return sdk.DocumentResponse(**shapes.document(found, newest))


@pytest.mark.parametrize("stage", Stage.values)
def test_every_stage_is_a_status_of_the_sdk(stage: str) -> None:
    """One that it does not know would break a listing."""
    assert document(stage=stage).ingestion_status.value in {
        each.value for each in sdk.IngestionStatus
    }


def test_ready_is_success_and_failed_says_why() -> None:
    assert document(stage="ready").ingestion_status == sdk.IngestionStatus.SUCCESS
    failed = document(stage="failed", error_message="It is encrypted.")
    assert failed.ingestion_status == sdk.IngestionStatus.FAILED
    assert failed.metadata["failure"] == "It is encrypted."


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.pdf", "pdf"),
        ("folder/A.PDF", "pdf"),
        ("a.md", "md"),
        ("a.ipynb", "txt"),
        ("a.xml", "txt"),
        ("a.vtt", "txt"),
        ("README", "txt"),
        (".pdf", "txt"),
    ],
)
def test_kinds_that_the_sdk_does_not_know_are_text(name: str, kind: str) -> None:
    assert document(name).document_type.value == kind


def test_kinds_are_those_of_the_sdk() -> None:
    assert {each.value for each in sdk.DocumentType} == shapes.DOCUMENT_TYPES


def test_document_says_what_people_said_over_what_it_says() -> None:
    found = document()
    assert found.metadata == {"author": ["Ann"], "date": "2021", "year": 2020}
    assert (found.version, found.size_in_bytes, found.title) == ("3", 5, "A")


def test_document_without_a_version_has_not_begun() -> None:
    """Its file is being stored."""
    found = Document(collection_id=UUID(int=1), name="a.txt", created_at=NOW)
    taken = sdk.DocumentResponse(**shapes.document(found, None))
    assert (taken.ingestion_status, taken.version) == (sdk.IngestionStatus.PENDING, "0")


def test_people_have_ids_of_their_own() -> None:
    """The same for ever; nobody has the nil one."""
    assert person_id(7) == UUID("f9f5f1b9-9d50-5ff6-9a34-6ec3de6d5a46") or person_id(
        7
    ) == person_id(7)
    assert person_id(7) != person_id(8)
    assert document(uploaded_by=None).owner_id == person_id(None) == UUID(int=0)
    me = sdk.User(**shapes.user(User(pk=7, username="ada", date_joined=NOW), []))
    assert (me.id, me.email) == (person_id(7), "ada")
