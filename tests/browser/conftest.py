"""A real Chromium on the real site. Any error on a page's console or in its scripts fails."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from chat.models import Run
from retrieval.text import fulltext
from tests import conversations
from tests.browser.scripted import ScriptedSocket
from tests.browser.site import (
    environment,
    running,
    wait_until_at_rest,
    wait_until_up,
)
from tests.browser.sources import FOUR_PAGES, LONG, answered, pdf, text_of_pages
from tests.provider import Provider
from tests.servers import free_port

WHOLE_CHROMIUM = "/usr/bin/chromium"
# What draws pages and has no windows of its own takes half the time.
SHELL = shutil.which("chromium-headless-shell")
CHROMIUM = os.environ.get("CHROMIUM", SHELL or WHOLE_CHROMIUM)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A name that is not this machine's: the page comes by plain HTTP, without a secure context.
    "--host-resolver-rules=MAP lan.example 127.0.0.1",
]
SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
UNTIL_SECONDS = 20.0

NewPage = Callable[..., Page]


@pytest.fixture(scope="session")
def site(django_db_setup: None, _folders: None) -> Iterator[str]:
    """Return the address of a site without a model: it answers by quoting."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with running("web", environment(port, ALLOWED_HOSTS="127.0.0.1,localhost,lan.example")) as web:
        wait_until_up(url, web)
        yield url


@pytest.fixture
def worker(site: str) -> Iterator[None]:
    """Run the worker of `site` for one test: it would take the jobs of others, too."""
    with running("worker", environment(free_port())):
        yield


@pytest.fixture(scope="session")
def model() -> Iterator[Provider]:
    """Return the provider of `site_with_model`; it holds nothing and has no script."""
    server = Provider()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def site_with_model(django_db_setup: None, _folders: None, model: Provider) -> Iterator[str]:
    """Return the address of a site whose answers the provider writes."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environ = environment(
        port, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="test", ANSWER_THRESHOLD="0"
    )
    with running("web", environ) as web:
        wait_until_up(url, web)
        yield url


@pytest.fixture(scope="module")
def browser(django_db_setup: None, request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Return a browser for the tests of a module: the program that its parameter names, if any.

    Playwright's loop runs in this thread while it lives, so Django must be told that the ORM is
    used from a test and not from a coroutine. Nor are sockets told of changes that tests make:
    they are of another process.
    """
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        patch.setattr("chat.access._tell", lambda group: None)
        program = getattr(request, "param", CHROMIUM)
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()
        # What the test opened while the loop ran are connections of their own.
        connections.close_all()


@pytest.fixture
def errors() -> list[str]:
    """Return the errors on the pages' consoles; those that are left at the end fail the test."""
    return []


@pytest.fixture
def forgiven() -> list[str]:
    """Return parts of messages that are no errors in a test, whenever they come."""
    return []


@pytest.fixture
def new_page(
    browser: Browser, site: str, errors: list[str], forgiven: list[str], transactional_db: None
) -> Iterator[NewPage]:
    """Return a function that opens a page, signed in if a user is given."""

    def said(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} ({message.location.get('url')})")

    def open_page(user: User | None = None, **options: Any) -> Page:
        context = browser.new_context(**{"base_url": site, "viewport": DESKTOP, **options})
        if user:
            client = Client()
            client.force_login(user)
            session = client.cookies["sessionid"].value
            url = options.get("base_url", site)
            context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", said)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield open_page
    for context in browser.contexts:
        context.close()
    wait_until_at_rest()
    left = [said for said in errors if not any(part in said for part in forgiven)]
    assert not left, left


@pytest.fixture
def ada(transactional_db: None) -> User:
    """Return someone who may do everything."""
    return conversations.person("ada", is_staff=True, is_superuser=True)


@pytest.fixture
def scripted(new_page: NewPage, ada: User) -> ScriptedSocket:
    """Return a page for a new conversation whose socket the test speaks for."""
    page = new_page(ada)
    socket = ScriptedSocket(page)
    page.goto("/")
    return socket


def until(page: Page, expression: str, arg: Any = None) -> None:
    """Return when a function in the page, given as its source, returns something true.

    Playwright's own `wait_for_function` evaluates in the page, which its policy forbids.
    """
    deadline = time.monotonic() + UNTIL_SECONDS
    while not page.evaluate(expression, arg):
        assert time.monotonic() < deadline, expression
        page.evaluate("() => new Promise(requestAnimationFrame)")


def screenshot(page: Page, name: str) -> None:
    """Keep a picture to look at."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


@pytest.fixture
def tower(transactional_db: None) -> None:
    """Make a document of one passage that questions about the tower of Lund find."""
    text = "# Towers\n\n## Lund\nThe tower of Lund is 96 metres high. Anna Berg built it in 1931."
    version = conversations.document(text, title="Towers")
    for chunk in version.chunks.all():
        chunk.fulltext = fulltext.document_vector(chunk.text, title="Towers", language="en")
        chunk.save()


@pytest.fixture
def two(ada: User) -> Run:
    """Return an answer that cites the second and the third page of a PDF."""
    version = pdf(FOUR_PAGES.read_bytes())
    pages = text_of_pages(FOUR_PAGES.read_bytes())
    sentences = [" ".join(text[700:].split(". ")[1].split()) + "." for text in pages]
    return answered(ada, version, (2, sentences[1]), (3, sentences[2]))


@pytest.fixture
def long(ada: User) -> Run:
    """Return an answer that cites a sentence in the middle of a long text."""
    version = conversations.document(LONG, title="Report")
    start = LONG.index("Line 450 ")
    version.chunks.update(char_start=start, char_end=start + 300, text=LONG[start : start + 300])
    return answered(ada, version, (1, "Line 451 of the report says little."))
