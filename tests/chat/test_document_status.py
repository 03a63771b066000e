"""What a new conversation says of what it searches, and of what writes the answers."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from chat.models import Assistant
from retrieval import backends
from retrieval.models import Collection, Document, Visibility
from tests import conversations
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def generator(settings: Any) -> ScriptedGenerator:
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {"BACKEND": "tests.fakes.ScriptedGenerator"},
    }
    configured = backends.generator()
    assert isinstance(configured, ScriptedGenerator)
    return configured


def text_of(client: Client, url: str = "/") -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def test_only_documents_that_the_assistant_searches_are_counted(client: Client) -> None:
    conversations.document(title="One")
    version = conversations.document(title="Two")
    Collection.objects.update(visibility=Visibility.PUBLIC)
    other = Collection.objects.create(name="Others", visibility=Visibility.PUBLIC)
    Document.objects.filter(pk=version.document_id).update(collection=other)
    assistant = Assistant.objects.create(name="Guide", visibility=Visibility.PUBLIC)
    assert "Searches 2 documents." in text_of(client)
    assistant.collections.add(other)
    assert "Searches 1 document." in text_of(client)
    assert "Searches 1 document." in text_of(client, "/documents/status/")


def test_only_administrators_are_told_how_to_connect_a_model(
    client: Client, generator: ScriptedGenerator
) -> None:
    generator.quotes_only = True
    ada = conversations.person("ada")
    client.force_login(ada)
    html = text_of(client)
    assert "Answers quote your documents word for word" in html
    assert "OPENAI_API_KEY" not in html
    ada.user_permissions.add(Permission.objects.get(codename="change_assistant"))
    assert "OPENAI_API_KEY" in text_of(client)
