"""Measure pages with Lighthouse: performance and accessibility, on a desktop and on a phone.

    .venv/bin/python -m benchmarks.lighthouse

Starts the site of the tour (docs/tour.py) in a temporary folder, signs in, and lets npm's
Lighthouse look at each page in Chromium.
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

from playwright.sync_api import expect, sync_playwright

from benchmarks import servers
from docs import tour
from docs.tour_answers import LEAVE
from ragsite import postgres

LIGHTHOUSE = os.environ.get("LIGHTHOUSE", "npx --yes lighthouse@12.2.3").split()
FORM_FACTORS = {"desktop": ["--preset=desktop"], "phone": []}
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
        with tour.site(state) as address, signed_in(address, state / "profile") as (port, asked):
            print("| Page | Desktop: performance, accessibility | Phone: the same |")
            print("|---|---|---|")
            for name, path in PAGES.items():
                url = f"{address}{path}" if path else asked
                scores = [measure(url, port, options) for options in FORM_FACTORS.values()]
                print(f"| {name} | {' | '.join(scores)} |", flush=True)
    finally:
        postgres.release(state.resolve())
        shutil.rmtree(state, ignore_errors=True)


@contextmanager
def signed_in(address: str, profile: Path) -> Iterator[tuple[int, str]]:
    """Run a browser that is signed in; yield its port for tools, and a conversation's address."""
    port = servers.free_port()
    expect.set_options(timeout=tour.PATIENCE_MS)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=tour.CHROMIUM,
            args=["--no-sandbox", f"--remote-debugging-port={port}"],
            base_url=address,
        )
        page = context.new_page()
        tour.enter(page)
        yield port, tour.find_out(context, LEAVE)
        context.close()


def measure(url: str, port: int, options: list[str]) -> str:
    """Return a page's scores in performance and in accessibility, 0 to 100."""
    command = [*LIGHTHOUSE, url, "--quiet", "--output=json", f"--port={port}", *options]
    command += ["--disable-storage-reset", "--only-categories=performance,accessibility"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    scores = {name: each["score"] for name, each in report["categories"].items()}
    return f"{scores['performance'] * 100:.0f}, {scores['accessibility'] * 100:.0f}"


if __name__ == "__main__":
    main()
