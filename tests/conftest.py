"""What all tests share: the real PostgreSQL, started before Django connects, and folders."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from pytest_django import DjangoDbBlocker

from ragsite import postgres

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
    # Sites that tests start in folders of their own link to it.
    settings.MODEL_DIR.mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Let tests with transactions of their own empty the audit log, as they do all tables."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_auditevent DISABLE TRIGGER audit_keep_table")


@pytest.fixture(scope="session", autouse=True)
def _same_content_types() -> None:
    """Empty all tables but that of content types, which running sites know by their keys."""
    introspection = type(connection.introspection)
    names = introspection.django_table_names

    def without_content_types(*args: Any, **options: Any) -> list[str]:
        return [name for name in names(*args, **options) if name != "django_content_type"]

    introspection.django_table_names = without_content_types


@pytest.fixture(scope="session", autouse=True)
def _folders() -> Iterator[None]:
    """Serve static files as the site does, hashed; leave no uploads behind."""
    from chat.management.static import collect  # noqa: PLC0415 - the apps are loaded only now

    collect()
    yield
    shutil.rmtree(Path(settings.MEDIA_ROOT), ignore_errors=True)


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    """Forget the attempts of other tests, which limits would count."""
    cache.clear()
