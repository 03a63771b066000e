"""Take the pictures of the tour, and write its page.

    .venv/bin/python -m docs.tour [NAME…]

Starts a site of its own in a temporary folder, with the sample documents and a provider whose
answers are written here, opens every screen in light, dark and on a phone, and writes
docs/tour/*.webp and docs/tour.md. With names it takes those screens' pictures only.
"""

# ruff: noqa: INP001, T201 - a command beside its pages

from __future__ import annotations

import argparse
import base64
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from benchmarks import servers
from docs.tour_screens import ANSWER, QUESTION, SCREENS, Screen
from ragsite import postgres

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "tour"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
KINDS: dict[str, dict[str, Any]] = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light", "is_mobile": True, "has_touch": True},
}
QUALITY = 60
PASSWORD = "rivers under seven lanterns"  # noqa: S105 - of a site that lives a minute


def main() -> None:
    """Take the pictures that were asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *(each.name for each in SCREENS)])
    names = parser.parse_args().names
    screens = [each for each in SCREENS if not names or each.name in names]
    state = Path(tempfile.mkdtemp(prefix="tour-"))
    state.chmod(0o755)  # the embedded PostgreSQL never runs as root
    PICTURES.mkdir(exist_ok=True)
    try:
        with site(state) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            take_all(browser, address, screens)
            browser.close()
    finally:
        postgres.release(state.resolve())
        shutil.rmtree(state, ignore_errors=True)
    (ROOT / "docs" / "tour.md").write_text(written())
    size = sum(picture.stat().st_size for picture in PICTURES.glob("*.webp"))
    print(f"{len(screens)} screens; all pictures take {size / 1e6:.1f} MB.")


@contextmanager
def site(state: Path) -> Iterator[str]:
    """Run a site with the sample documents and some people; its provider is the tour's."""
    port = servers.free_port()
    os.environ.update(
        {
            "DJANGO_SETTINGS_MODULE": "ragsite.settings",
            "RAGSITE_STATE": str(state),
            "DATABASE_URL": "",
            "PORT": str(port),
            "OPENAI_API_KEY": "none",
            "ANSWER_THRESHOLD": "0",
            "REWRITE": "0",
            "TITLES": "0",
            "LOG_LEVEL": "ERROR",
            # The browser runs a loop in this thread.
            "DJANGO_ALLOW_ASYNC_UNSAFE": "1",
        }
    )
    servers.link_models(state)
    command = [sys.executable, "manage.py"]
    samples = ROOT / "retrieval" / "samples"
    ingest = [*command, "ingest", str(samples), "--collection", "Larkfield", "--wait"]
    subprocess.run(ingest, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    postgres.use(state.resolve())
    django.setup()
    from chat.management.static import collect  # noqa: PLC0415 - the apps are loaded only now
    from docs.tour_site import provider  # noqa: PLC0415 - its models need the apps loaded

    collect()
    with (
        provider(ANSWER) as api,
        servers.serving(
            ["manage.py", "web"], port, state / "log", OPENAI_BASE_URL=api, RUN_GRACE_SECONDS="0"
        ) as server,
    ):
        yield server.http


def take_all(browser: Browser, address: str, screens: list[Screen]) -> None:
    """Ask the question of the tour, and take the pictures of the screens."""
    from docs.tour_site import people  # noqa: PLC0415 - its models need the apps loaded

    people(PASSWORD)
    cookies = sign_in(browser, address)
    places: dict[str, str] = {}
    for kind, options in KINDS.items():
        chosen = {"base_url": address, "reduced_motion": "reduce", **options}
        known = browser.new_context(**chosen)
        known.add_cookies(cookies)
        places = places or find_places(known)
        stranger = browser.new_context(**chosen)
        for screen in screens:
            take(known if screen.signed_in else stranger, screen, kind, places)
        known.close()
        stranger.close()


def sign_in(browser: Browser, address: str) -> list[Any]:
    """Sign in as everybody does; return the cookies."""
    context = browser.new_context(base_url=address)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.get_by_label("Username or e-mail").fill("mira")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_be_visible()
    return context.cookies()


def find_places(context: BrowserContext) -> dict[str, str]:
    """Ask the question of the tour; return the addresses of what came of it."""
    from docs.tour_site import places  # noqa: PLC0415 - its models need the apps loaded

    page = context.new_page()
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("#chat")).to_have_attribute("data-state", "done", timeout=60_000)
    page.close()
    return places(page.url)


def take(context: BrowserContext, screen: Screen, kind: str, places: dict[str, str]) -> None:
    """Take one picture."""
    page = context.new_page()
    page.goto(screen.address.format(**places))
    try:
        screen.prepare(page)
        settle(page)
        shot = context.new_cdp_session(page).send(
            "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
        )
    except Exception as error:
        raise SystemExit(f"{screen.name}, {kind}: {error}") from error
    (PICTURES / f"{screen.name}-{kind}.webp").write_bytes(base64.b64decode(shot["data"]))
    page.close()


def settle(page: Page) -> None:
    """Wait for what the page still loads."""
    page.wait_for_load_state("networkidle")
    page.evaluate("() => document.fonts.ready.then(() => new Promise(requestAnimationFrame))")


HEAD = """# A tour of the screens

Every screen in light, dark, and on a phone of 390 px. The pictures are taken by
`.venv/bin/python -m docs.tour`, of the sample documents (retrieval/samples).
"""
SECTION = """
## {title}

{text}

| Light | Dark | Phone |
|---|---|---|
| {pictures} |
"""


def written() -> str:
    """Return the tour's page."""
    page = HEAD
    for each in SCREENS:
        pictures = " | ".join(
            f"![{each.title}, {kind}](tour/{each.name}-{kind}.webp)" for kind in KINDS
        )
        page += SECTION.format(title=each.title, text=each.text, pictures=pictures)
    return page


if __name__ == "__main__":
    main()
