"""What tests of runs share: a document to ask about, and a generator that does as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import stamina
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from pytest_django import Settings

from chat.active import RUNS
from chat.models import Assistant, Run
from retrieval import backends
from retrieval.models import Chunk, Collection, Document, DocumentVersion, Stage
from retrieval.text import fulltext
from tests import conversations
from tests.background import settled
from tests.fakes import ScriptedGenerator
from tests.sockets import Page

TOWER = "The tower of Lund is 96 metres high. Anna Berg built the tower in 1931."


@pytest.fixture(autouse=True)
def _without_waiting() -> Iterator[None]:
    """Try again as often as the site does, but at once."""
    with stamina.set_testing(testing=True, attempts=3, cap=True):
        yield


@pytest.fixture(autouse=True)
def _grounding_in_time(settings: Settings) -> None:
    """Answers wait for the frame that says how they are grounded, however busy the machine is."""
    settings.GROUNDING_WAIT_SECONDS = 30.0


@pytest.fixture
def user(transactional_db: None) -> User:
    return User.objects.create_user("ada", password="ada")


@pytest.fixture
def other(transactional_db: None) -> User:
    return User.objects.create_user("bob", password="bob")


@pytest.fixture
async def tab(user: User, visit: Callable[..., Awaitable[Page]]) -> Page:
    """Return the open socket of a page that `user` looks at."""
    opened = await visit(user)
    await opened.connect()
    return opened


@pytest.fixture
def tower(transactional_db: None) -> Chunk:
    """Make a document of one chunk that questions about the tower find."""
    collection = Collection.objects.create(name="Towers")
    document = Document.objects.create(collection=collection, name="tower.txt", title="The tower")
    version = DocumentVersion.objects.create(
        document=document, number=1, sha256="0", size=1, text=TOWER, stage=Stage.READY
    )
    document.current_version = version
    document.save()
    return Chunk.objects.create(
        version=version,
        ordinal=0,
        text=TOWER,
        page_start=3,
        char_start=0,
        char_end=len(TOWER),
        fulltext=fulltext.document_vector(TOWER, title="The tower", heading="", language="en"),
    )


@pytest.fixture
def generator(settings: Settings) -> ScriptedGenerator:
    """Make the scripted generator the configured one."""
    settings.ANSWER_THRESHOLD = 0
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {"BACKEND": "tests.fakes.ScriptedGenerator"},
    }
    configured = backends.generator()
    assert isinstance(configured, ScriptedGenerator)
    return configured


@pytest.fixture
async def runs_end(transactional_db: None) -> AsyncIterator[None]:
    """End what a test leaves running."""
    yield
    for active in list(RUNS.values()):
        active.cancel("stopped")
        await asyncio.wait([active.work])
    await settled()
    # The thread of asgiref that ran this test's queries keeps its connection otherwise.
    await sync_to_async(connections.close_all)()


@pytest.fixture
async def no_run_left(runs_end: None) -> AsyncIterator[None]:
    """Fail a test that leaves a run behind."""
    yield
    assert not RUNS


@pytest.fixture
def fakes_configured(settings: Settings) -> None:
    """Configure backends that take no time."""
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
        "reranker": {"BACKEND": None},
        "generator": {"BACKEND": "tests.fakes.ScriptedGenerator"},
    }


@pytest.fixture
def ada(db: None) -> User:
    return conversations.person("ada")


@pytest.fixture
def page(ada: User, client: Client) -> Client:
    """Return a browser in which Ada is signed in."""
    client.force_login(ada)
    return client


@pytest.fixture
def run(ada: User) -> Run:
    """Return an answer that Ada got."""
    return conversations.answered(ada)


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    """Return a browser in which an administrator is signed in."""
    client.force_login(conversations.person("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def archivist(db: None) -> Assistant:
    """Return an assistant at its first version."""
    made = Assistant.objects.create(name="Archivist", instructions="Be brief.")
    made.record_version()
    return made
