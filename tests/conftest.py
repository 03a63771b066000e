"""What all tests share: the real PostgreSQL, started before Django connects."""

import os

import pytest
from django.conf import settings

from ragsite import postgres


def pytest_configure(config: pytest.Config) -> None:
    """Start the embedded server; its port may have changed since the settings were read."""
    if settings.EMBEDDED_POSTGRES:
        postgres.use(settings.STATE_DIR)
        settings.DATABASES["default"].update(postgres.database(settings.STATE_DIR))
    # Not replaced: Django may have filled in its defaults already.
    test = settings.DATABASES["default"].setdefault("TEST", {})
    test["NAME"] = os.environ.get("RAGSITE_TEST_DB", "test_ragsite")
