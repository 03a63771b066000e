"""A real Chromium on the site. Any error on its console or in its scripts fails the test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SCREENSHOTS = Path(__file__).parents[2] / "screenshots"


@pytest.fixture
def browser(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    """Return a browser that is gone before the database is emptied.

    Playwright's loop runs in this thread while it lives, so Django must be told that the ORM is
    used from a test and not from a coroutine.
    """
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()
