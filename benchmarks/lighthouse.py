"""Measure pages with Lighthouse: performance and accessibility, on a desktop and on a phone.

    .venv/bin/python -m benchmarks.lighthouse

Starts the site of the tour (docs/tour.py) in a temporary folder, and lets npm's Lighthouse look at
each page in Chromium: that of signing in first, then those that one sees who has.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, expect, sync_playwright

from benchmarks import servers
from docs import tour
from docs.tour_answers import LEAVE
from ragsite import postgres

LIGHTHOUSE = os.environ.get("LIGHTHOUSE", "npx --yes lighthouse@12.2.3").split()
FORM_FACTORS = {"desktop": ["--preset=desktop"], "phone": []}
LOGIN = "/accounts/login/"
# The one without an address is that of the question that is asked first.
PAGES = {
    "New conversation": "/",
    "Conversation": "",
    "Account": "/accounts/",
    "Documents (administration)": "/admin/retrieval/document/",
}


def main() -> None:
    """Print a row a page."""
    state = Path(tempfile.mkdtemp(prefix="lighthouse-"))
    state.chmod(0o755)  # the embedded PostgreSQL never runs as root
    try:
        with tour.site(state) as address, browser(address, state / "profile") as (port, context):
            print("| Page | Desktop: performance, accessibility | Phone: the same |")
            print("|---|---|---|")
            print_row("Signing in", f"{address}{LOGIN}", port)
            tour.enter(context.new_page())
            asked = tour.find_out(context, LEAVE)
            for name, path in PAGES.items():
                print_row(name, f"{address}{path}" if path else asked, port)
    finally:
        postgres.release(state.resolve())
        shutil.rmtree(state, ignore_errors=True)


@contextmanager
def browser(address: str, profile: Path) -> Iterator[tuple[int, BrowserContext]]:
    """Run a browser; yield its port for tools, and its context."""
    port = servers.free_port()
    expect.set_options(timeout=tour.PATIENCE_MS)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=tour.CHROMIUM,
            args=["--no-sandbox", f"--remote-debugging-port={port}"],
            base_url=address,
        )
        yield port, context
        context.close()


def print_row(name: str, url: str, port: int) -> None:
    """Measure a page in every form, and print its scores."""
    scores = [measure(url, port, options) for options in FORM_FACTORS.values()]
    print(f"| {name} | {' | '.join(scores)} |", flush=True)


def measure(url: str, port: int, options: list[str]) -> str:
    """Return a page's scores in performance and in accessibility, 0 to 100."""
    command = [*LIGHTHOUSE, url, "--quiet", "--output=json", f"--port={port}", *options]
    command += ["--disable-storage-reset", "--only-categories=performance,accessibility"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    scores = {name: each["score"] for name, each in report["categories"].items()}
    return f"{scores['performance'] * 100:.0f}, {scores['accessibility'] * 100:.0f}"


if __name__ == "__main__":
    main()
