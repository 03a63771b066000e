"""Take the pictures of the tour, and write its page.

    .venv/bin/python -m docs.tour [NAME…]

Starts a site of its own in a temporary folder, with the sample documents and a provider whose
answers are written here, opens every screen in light, dark and on a phone, and writes
docs/tour/*.webp and docs/tour.md. With names it takes those screens' pictures only.
"""

# ruff: noqa: INP001, T201 - a command beside its pages

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import django
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from benchmarks import servers
from docs import tour_answers
from docs.tour_admin import ADMIN
from docs.tour_answers import Asked
from docs.tour_screens import ACCOUNTS, CHAT, PASSWORD, Screen, ask
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
COLOURS = 48
PATIENCE_MS = 60_000
ENDS = {"done": re.compile("done|no_answer"), "stopped": "cancelled", "failed": "failed"}
PARTS = {"Asking": CHAT, "One's account": ACCOUNTS, "Looking after it": ADMIN}
SCREENS = [screen for part in PARTS.values() for screen in part]
ASKED = {
    "nobody": tour_answers.NOBODY,
    "cartridge": tour_answers.CARTRIDGE,
    "arabic": tour_answers.ARABIC,
    "hotel": tour_answers.HOTEL,
    "descaling": tour_answers.DESCALING,
    "ratio": tour_answers.RATIO,
    "leave": tour_answers.LEAVE,
}


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
            expect.set_options(timeout=PATIENCE_MS)
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
            "SIGN_UP": "1",
            "EMAIL_URL": "dummymail://",
            "REWRITE": "0",
            "TITLES": "0",
            "LOG_LEVEL": "ERROR",
            # The browser runs a loop in this thread.
            "DJANGO_ALLOW_ASYNC_UNSAFE": "1",
        }
    )
    servers.link_models(state)
    ingest(state)
    postgres.use(state.resolve())
    django.setup()
    from chat.management.static import collect  # noqa: PLC0415 - the apps are loaded only now
    from docs import tour_site  # noqa: PLC0415 - its models need the apps loaded

    collect()
    tour_site.people(PASSWORD)
    tour_site.assistants()
    with (
        tour_site.provider() as api,
        servers.serving(
            ["manage.py", "web"], port, state / "log", OPENAI_BASE_URL=api, RUN_GRACE_SECONDS="0"
        ) as server,
        working(state),
    ):
        yield server.http


def ingest(state: Path) -> None:
    """Put the samples into two collections, and a file that cannot be read."""
    samples = ROOT / "retrieval" / "samples"
    broken = state / "scanned-invoice.pdf"
    broken.write_bytes(b"%PDF-1.7\nnothing more")
    for name, files, visibility in (
        ("Larkfield", [samples / "employee-handbook.pdf", broken], "signed_in"),
        ("Machines", [samples / "espresso-machine-manual.md"], "public"),
        ("Bibliothek", [samples / "bibliotheksordnung.docx"], "signed_in"),
    ):
        command = [sys.executable, "manage.py", "ingest", *map(str, files), "--wait"]
        command += ["--collection", name, "--visibility", visibility]
        subprocess.run(command, cwd=ROOT, check=broken not in files, stdout=subprocess.DEVNULL)


@contextmanager
def working(state: Path) -> Iterator[None]:
    """Run a worker."""
    with (state / "worker.log").open("wb") as log:
        worker = subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT, stderr=log)
    try:
        yield
    finally:
        worker.terminate()
        worker.wait(30)


def take_all(browser: Browser, address: str, screens: list[Screen]) -> None:
    """Ask the questions of the tour, and take the pictures of the screens."""
    from docs import tour_site  # noqa: PLC0415 - its models need the apps loaded

    asked: dict[str, str] = {}
    for kind, options in KINDS.items():
        chosen = {"base_url": address, "reduced_motion": "reduce", **options}
        tour_site.forget_sessions()
        known = browser.new_context(**chosen)
        # Anew: some pages ask again who it is after a while.
        known.add_cookies(sign_in(browser, address))
        asked = asked or {name: find_out(known, each) for name, each in ASKED.items()}
        places = tour_site.places(asked)
        kept = {place.rstrip("/").rsplit("/", 1)[-1] for place in asked.values()}
        for screen in screens:
            # Each begins from the same: what was done for the one before it is put away.
            tour_site.forget(kept)
            context = known if screen.signed_in else browser.new_context(**chosen)
            take(context, screen, kind, places)
        known.close()


def sign_in(browser: Browser, address: str) -> list[Any]:
    """Sign in; return the cookies."""
    context = browser.new_context(base_url=address)
    enter(context.new_page())
    return context.cookies()


def enter(page: Page) -> None:
    """Sign in as everybody does."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto("/accounts/login/")
    page.get_by_label("Username or e-mail").fill("mira")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_be_visible()


def find_out(context: BrowserContext, asked: Asked) -> str:
    """Ask a question of the tour; return the address of its conversation."""
    page = context.new_page()
    page.goto("/")
    ask(page, asked.question)
    if asked.ends == "stopped":
        expect(page.locator(".answer .prose")).to_contain_text(asked.answer.split()[-1])
        # Right after Send a click there does not stop.
        page.keyboard.press("Escape")
    expect(page.locator("#chat")).to_have_attribute("data-state", ENDS[asked.ends])
    page.close()
    return page.url


def take(context: BrowserContext, screen: Screen, kind: str, places: dict[str, str]) -> None:
    """Take one picture."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(screen.address.format(**places))
    try:
        screen.prepare(page)
        settle(page)
        shot = page.screenshot()
    # What a step waits for in vain is said by an assertion.
    except (AssertionError, Error) as error:
        print(f"{screen.name}, {kind}: {error}", file=sys.stderr)
    else:
        picture = Image.open(BytesIO(shot)).convert("RGB")
        few = picture.quantize(COLOURS, dither=Image.Dither.NONE).convert("RGB")
        few.save(PICTURES / f"{screen.name}-{kind}.webp", lossless=True, quality=80)
    page.context.set_offline(False)
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
### {title}

{text}

| Light | Dark | Phone |
|---|---|---|
| {pictures} |
"""


def written() -> str:
    """Return the tour's page."""
    page = HEAD
    for part, screens in PARTS.items():
        page += f"\n## {part}\n"
        page += "".join(map(section, screens))
    return page


def section(each: Screen) -> str:
    """Return what the page says of a screen."""
    pictures = (f"![{each.title}, {kind}](tour/{each.name}-{kind}.webp)" for kind in KINDS)
    return SECTION.format(title=each.title, text=each.text, pictures=" | ".join(pictures))


if __name__ == "__main__":
    main()
