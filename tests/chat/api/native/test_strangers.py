"""Every operation that names a thing: what is somebody else's is not there."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.core.files.base import ContentFile

from chat.models import Assistant
from retrieval.ingestion.uploads import add_document
from retrieval.models import Collection
from tests.chat.api.conftest import Live

# What an operation needs to get as far as to the thing.
BODIES: dict[str, Any] = {"putFeedback": {"helpful": True}}


@pytest.fixture(scope="module")
def others(ada: httpx.Client, live: Live) -> dict[str, str]:
    """Return the ids of Ada's things that Bob may not see, by the names of parameters."""
    hidden = Collection.objects.create(name="Hidden", visibility="restricted")
    hidden.managers.add(live.user)
    content = ContentFile(b"A secret.", "secret.txt")
    document = add_document(hidden, "secret.txt", content, live.user).document
    live.ingest()
    assistant = Assistant.objects.create(name="Hidden", visibility="restricted")
    assistant.users.add(live.user)
    run = ada.post("runs", json={"text": "How high is the tower?", "stream": False}).json()
    return {
        "collection_id": str(hidden.pk),
        "document_id": str(document.pk),
        "assistant_id": str(assistant.pk),
        "run_id": run["id"],
        "conversation_id": run["conversation"],
        "message_id": run["answer"],
    }


def test_no_operation_finds_what_is_somebody_else_s(
    ada: httpx.Client, bob: httpx.Client, live: Live, others: dict[str, str]
) -> None:
    found = {}
    for path, operations in ada.get("openapi.json").json()["paths"].items():
        if "{" not in path:
            continue
        address = live.base_url + path.format(**others)
        for method, operation in operations.items():
            key = operation["operationId"]
            body = BODIES.get(key, {}) if method in {"post", "put", "patch"} else None
            found[key] = bob.request(method, address, json=body).status_code
    assert len(found) > 20
    assert {key: code for key, code in found.items() if code != 404} == {}


def test_lists_have_nothing_of_somebody_else(bob: httpx.Client, others: dict[str, str]) -> None:
    for listing in ("collections", "documents", "assistants", "runs", "conversations"):
        items = bob.get(listing, params={"limit": 200}).json()["items"]
        assert not {each["id"] for each in items} & {*others.values()}, listing


def test_nobody_is_let_in_anywhere(live: Live, ada: httpx.Client, others: dict[str, str]) -> None:
    with httpx.Client(timeout=20) as nobody:
        for path, operations in ada.get("openapi.json").json()["paths"].items():
            for method, operation in operations.items():
                answer = nobody.request(method, live.base_url + path.format(**others))
                assert answer.status_code == 401, operation["operationId"]
