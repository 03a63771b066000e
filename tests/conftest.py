"""What all tests share: the real PostgreSQL, started before Django connects, and folders."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

from ragsite import postgres
from tests import emptying

pytest_plugins = ["tests.provider", "tests.servers", "tests.sockets"]

# Two test runs at once in one checkout need a name each, and so do the processes of one.
DATABASE = "_".join(
    filter(
        None,
        (os.environ.get("RAGSITE_TEST_DB", "test_ragsite"), os.environ.get("PYTEST_XDIST_WORKER")),
    )
)


def pytest_configure(config: pytest.Config) -> None:
    """Start the embedded server; its port may have changed since the settings were read."""
    if settings.EMBEDDED_POSTGRES:
        postgres.use(settings.STATE_DIR)
        settings.DATABASES["default"].update(postgres.database(settings.STATE_DIR))
    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = DATABASE
    folder = settings.STATE_DIR / "tests" / DATABASE
    settings.STATIC_ROOT = folder / "static"
    settings.MEDIA_ROOT = folder / "media"
    # What a generator is asked in a test is asked by the test; those of titles turn it on.
    settings.TITLES = False
    settings.PASSWORD_HASHERS = ["tests.passwords.QuickHasher"]
    # Sites that tests start in folders of their own link to it.
    settings.MODEL_DIR.mkdir(parents=True, exist_ok=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests of pages last: their sites stay up, and would look after what others store."""
    items.sort(key=lambda item: "tests/browser/" in item.nodeid)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Have tests with transactions of their own leave the database empty in a quick way."""
    with django_db_blocker.unblock():
        emptying.prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: emptying.empty())
        yield


@pytest.fixture(scope="session", autouse=True)
def _folders() -> Iterator[None]:
    """Serve static files as the site does, hashed; leave no uploads behind."""
    # The apps are loaded only now.
    from servestatic.middleware import ServeStaticMiddleware  # noqa: PLC0415

    from chat.management.static import collect  # noqa: PLC0415

    collect()
    find = ServeStaticMiddleware.add_files_from_manifest
    found: dict[str, object] = {}

    def add(middleware: ServeStaticMiddleware) -> None:
        """Look the files through once, and not for each client that a test makes."""
        if not found:
            find(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServeStaticMiddleware, "add_files_from_manifest", add)
        yield
    shutil.rmtree(Path(settings.MEDIA_ROOT), ignore_errors=True)


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    """Forget the attempts of other tests, which limits would count."""
    cache.clear()
