"""A live site for clients of the API: Daphne in a thread of the test process, with documents.

Modules that use `live` use no other database fixture: what is there is theirs together, and goes
at their end. A generator of the tests' own answers; `live.say` tells it what.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import pytest
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile
from django.db import connections
from django.test import TransactionTestCase
from django.test.utils import override_settings
from pytest_django import DjangoDbBlocker

from tests import servers
from tests.background import settled
from tests.fakes import ScriptedGenerator

T = TypeVar("T")

WAIT_SECONDS = 20.0
TEXTS = {
    "tower.md": "# The tower of Lund\n\nThe tower of Lund is 96 metres high. Anna Berg built it.\n",
    "bridge.md": "# The bridge of Malmö\n\nThe bridge of Malmö is 7845 metres long.\n",
    "mill.md": "# The mill of Ystad\n\nThe mill of Ystad grinds 40 sacks of rye a day.\n",
}
ANSWER = ("The tower of Lund is ", "96 metres high [1].")


class Site:
    """The server's thread and its loop."""

    def __init__(self) -> None:
        # Both install what they need when they are imported, and need the apps.
        from daphne import server as daphne  # noqa: PLC0415

        from chat.management.commands.web import DrainingServer  # noqa: PLC0415
        from ragsite.asgi import application  # noqa: PLC0415

        self.loop: asyncio.AbstractEventLoop = daphne.twisted_loop
        self.reactor: Any = daphne.reactor
        self.port = servers.free_port()
        self.listening = threading.Event()
        self.server = DrainingServer(
            lambda _: self.listening.set(),
            application=application,
            endpoints=[f"tcp:port={self.port}:interface=127.0.0.1"],
            verbosity=0,
        )
        self.thread = threading.Thread(target=self.server.run, name="site", daemon=True)

    def start(self) -> None:
        """Serve, from when this returns."""
        self.thread.start()
        assert self.listening.wait(WAIT_SECONDS), self.server.failure

    def run(self, work: Awaitable[T]) -> T:
        """Return what something awaits to in the server's loop."""

        async def awaited() -> T:
            return await work

        future: Future[T] = asyncio.run_coroutine_threadsafe(awaited(), self.loop)
        return future.result(WAIT_SECONDS)

    def rest(self) -> None:
        """Stop what is being answered, and return when nothing is left to do."""
        from chat import active  # noqa: PLC0415

        async def end() -> None:
            for run in list(active.RUNS.values()):
                run.cancel("stopped")
            await settled()
            if answering := self.server.applications():
                await asyncio.wait(answering, timeout=WAIT_SECONDS / 2)

        self.run(end())

    def stop(self) -> None:
        """End the thread, with the connections of its loop."""
        from retrieval import per_loop  # noqa: PLC0415

        async def end() -> None:
            if requests := self.server.applications():
                await asyncio.wait(requests, timeout=WAIT_SECONDS / 2)
            await per_loop.aclose()

        self.rest()
        self.run(end())
        self.reactor.callFromThread(self.reactor.stop)
        self.thread.join(WAIT_SECONDS)


class Gate:
    """What an answer waits for; opened from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.event = asyncio.Event()
        self.loop = loop

    def open(self) -> None:
        """Let the answer go on."""
        self.loop.call_soon_threadsafe(self.event.set)


@dataclass
class Live:
    """A site with people and documents.

    `user` (ada) manages the collection, `other` (bob) may only read it, and `token` and
    `other_token` of theirs are good for everything.
    """

    site: Site
    generator: ScriptedGenerator
    user: User
    token: str
    other: User
    other_token: str
    collection: Any
    documents: dict[str, Any]
    """The ready ones, by their files' names."""

    @property
    def base_url(self) -> str:
        """The address, without a slash at its end."""
        return f"http://127.0.0.1:{self.site.port}"

    def client(self, token: str | None = None, **options: Any) -> httpx.Client:
        """Return a client of the whole site, of ada unless another token is given."""
        headers = {"Authorization": f"Bearer {token or self.token}", **options.pop("headers", {})}
        options.setdefault("timeout", WAIT_SECONDS)
        return httpx.Client(base_url=self.base_url, headers=headers, **options)

    def make_token(self, user: User | None = None, *scopes: str) -> str:
        """Return a new token, of ada unless somebody is given."""
        from chat.accounts import tokens  # noqa: PLC0415

        return tokens.make(user or self.user, "Test", scopes)[1]

    def say(self, *steps: str | Gate | BaseException) -> None:
        """Let the generator say this from now on: a text, wait at a gate, raise an error."""
        self.generator.script = [step.event if isinstance(step, Gate) else step for step in steps]

    def gate(self) -> Gate:
        """Return something that an answer can wait at."""
        return Gate(self.site.loop)

    def ingest(self) -> None:
        """Do what a worker would do of what is queued."""
        from retrieval.ingestion import ledger, pipeline  # noqa: PLC0415
        from retrieval.ingestion.errors import ExtractionError  # noqa: PLC0415
        from retrieval.models import ENDED, DocumentVersion  # noqa: PLC0415

        waiting = DocumentVersion.objects.exclude(stage__in=ENDED).order_by("pk")
        for key in list(waiting.values_list("pk", flat=True)):
            try:
                self.site.run(pipeline.ingest(key))
            except ExtractionError as error:
                ledger.fail(key, ledger.reason(error))

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Run a worker while the block does."""
        from tests.ingesting import working  # noqa: PLC0415

        manager = working()
        stop = self.site.run(manager.__aenter__())
        try:
            yield
        finally:
            self.site.loop.call_soon_threadsafe(stop.set)
            self.site.run(manager.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def site(django_db_setup: None, _folders: None) -> Iterator[Site]:
    """Return the server; there can be only one of it in a process."""
    made = Site()
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let a whole module use the database, which is emptied at its end.

    Its name is that of pytest-django's, which makes the test database if a test has it.
    """
    with django_db_blocker.unblock():
        yield
        # As after each test that has transactions of its own.
        TransactionTestCase("run")._fixture_teardown()
        connections.close_all()


@pytest.fixture(scope="module")
def live(site: Site, db: None) -> Iterator[Live]:
    """Return the site with people, a collection and three documents that are ready."""
    from retrieval import backends  # noqa: PLC0415
    from retrieval.search import scope, term_statistics, vector  # noqa: PLC0415

    # What the modules before had is gone.
    for remembered in (scope, term_statistics, vector):
        remembered.forget()
    changes: dict[str, Any] = {
        "ANSWER_THRESHOLD": 0,
        "GROUNDING_WAIT_SECONDS": 30.0,
        "RAG_BACKENDS": {
            "embedder": {"BACKEND": "tests.fakes.HashEmbedder"},
            "reranker": {"BACKEND": None},
            "generator": {"BACKEND": "tests.fakes.ScriptedGenerator"},
        },
    }
    with override_settings(**changes):
        generator = backends.generator()
        assert isinstance(generator, ScriptedGenerator)
        made = _filled(site, generator)
        yield made
        site.rest()


@pytest.fixture(autouse=True)
def _speaking(request: pytest.FixtureRequest) -> None:
    """Let each test begin with an answer that is always the same."""
    if "live" in request.fixturenames:
        request.getfixturevalue("live").say(*ANSWER)


def _filled(site: Site, generator: ScriptedGenerator) -> Live:
    """Make what the module shares."""
    from chat.accounts import tokens  # noqa: PLC0415
    from chat.accounts.models import Scope  # noqa: PLC0415
    from retrieval.ingestion.uploads import add_document  # noqa: PLC0415
    from retrieval.models import Collection  # noqa: PLC0415

    user, other = (
        User.objects.create_user(name, email=f"{name}@example.org", password=name)
        for name in ("ada", "bob")
    )
    user.groups.add(Group.objects.get(name="Collection managers"))
    collection = Collection.objects.create(name="Buildings")
    collection.managers.add(user)
    scopes = list(Scope.values)
    live = Live(
        site=site,
        generator=generator,
        user=user,
        token=tokens.make(user, "All", scopes)[1],
        other=other,
        other_token=tokens.make(other, "All", scopes)[1],
        collection=collection,
        documents={},
    )
    for name, text in TEXTS.items():
        upload = add_document(collection, name, ContentFile(text.encode(), name), user)
        live.documents[name] = upload.document
    live.ingest()
    for document in live.documents.values():
        document.refresh_from_db()
        assert document.current_version_id is not None
    return live
