"""A soak: people who reload, stop, drop and leave, and processes that die, for some minutes.

    python -m benchmarks.soak [--minutes 10] [--people 24] [--seed 1] [--quick]

docs/benchmarks.md says what it needs. Prints a Markdown table, and what does not hold; the exit
code is 1 if anything does not. Everything it writes goes into a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import itertools
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import django

from benchmarks import servers, soak_site, sockets
from benchmarks.soak_journal import Journal
from benchmarks.soak_users import Person
from benchmarks.streams import DEFAULT_TOOLS, say
from ragsite import postgres

if TYPE_CHECKING:
    from benchmarks.soak_site import Web

ACCOUNTS = 8
# So few that what a process remembers of passages is complete when it has warmed up.
CHUNKS = 500
SAMPLE_SECONDS = 2.0
# Megabytes; what a process takes goes up and down by some, with what it happens to do at once.
MOST_GROWTH = 32
# For runs that were left, and for leases of processes that were killed at the end.
SETTLE_SECONDS = 2 * soak_site.GRACE_SECONDS + 12


def main() -> None:
    """Run the soak, print what came of it, and exit with 1 if anything is not as it must be."""
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("Stopped."))
    sys.path.append(str(options.tools))
    state = Path(tempfile.mkdtemp(prefix="soak-"))
    state.chmod(0o755)  # the embedded PostgreSQL never runs as root
    try:
        problems = measure(options, state)
    finally:
        postgres.release(state.resolve())
        if options.keep:
            shutil.copytree(state, options.keep, ignore=shutil.ignore_patterns("postgres"))
        shutil.rmtree(state, ignore_errors=True)
    sys.exit(1 if problems else 0)


def arguments() -> argparse.Namespace:
    """Return how long, with how many, and how often something dies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, default=DEFAULT_TOOLS, help="folder of the tools")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--people", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1, help="of what people and processes do")
    parser.add_argument("--disturb", type=float, default=15, help="seconds from kill to kill")
    parser.add_argument("--quick", action="store_true", help="half a minute")
    parser.add_argument("--keep", type=Path, help="copy logs into this new folder")
    options = parser.parse_args()
    if options.quick:
        options.minutes, options.disturb = 0.5, 8
    return options


def measure(options: argparse.Namespace, state: Path) -> list[str]:
    """Start everything, let people loose on it, check and print; return what does not hold."""
    with ExitStack() as stack:
        port = servers.free_port()
        provider = stack.enter_context(servers.provider(options.tools, state, port))
        os.environ.update(servers.product_environment(state, f"{provider.http}/v1"))
        postgres.use(state.resolve())
        django.setup()
        from benchmarks import soak_checks, soak_report  # noqa: PLC0415 - need the apps loaded

        cookies = prepare()
        redis = stack.enter_context(servers.redis(state))
        webs = stack.enter_context(soak_site.site(state, redis))
        say(f"{len(webs)} web processes are up: {options.minutes:g} minutes from now on")
        journal = Journal()
        asyncio.run(soak(options, webs, cookies, journal))
        with urllib.request.urlopen(f"{provider.http}/stats?since=0") as response:
            stats = json.load(response)
        problems = [
            *soak_checks.check(journal, stats["records"]),
            *soak_checks.left_behind(webs, stats["live"]),
        ]
        grown = soak_report.memory(journal, webs[0].process.pid)
        print(soak_report.table(journal, grown, len(problems), options.minutes))
        if grown and grown.last - grown.first > MOST_GROWTH:
            problems.append(f"memory grew by {grown.last - grown.first:.0f} MB")
        for problem in problems:
            print(f"- {problem}")
        return problems


def prepare() -> list[str]:
    """Fill the database; return the cookies of accounts that may choose any model."""
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs the apps loaded
    from django.test import Client  # noqa: PLC0415

    from benchmarks.corpus import load  # noqa: PLC0415

    load(CHUNKS)
    cookies = []
    for number in range(ACCOUNTS):
        client = Client()
        client.force_login(User.objects.create_user(f"reader-{number}", is_staff=True))
        cookies.append(f"sessionid={client.cookies['sessionid'].value}")
    return cookies


async def soak(
    options: argparse.Namespace, webs: list[Web], cookies: list[str], journal: Journal
) -> None:
    """Have everybody live for the time, come back to what they left, and go."""
    numbers, text = itertools.count(1), importlib.import_module("common").Corpus().query
    people = [
        Person(
            cookie=cookies[number % len(cookies)],
            webs=webs,
            journal=journal,
            rng=random.Random(f"{options.seed}/{number}"),
            numbers=numbers,
            text=text,
        )
        for number in range(options.people)
    ]
    until = time.monotonic() + options.minutes * 60
    watching = asyncio.create_task(watch_memory(webs[0], journal))
    async with asyncio.TaskGroup() as everything:
        for person in people:
            everything.create_task(person.live(until))
        rng = random.Random(options.seed)
        everything.create_task(soak_site.disturb(webs, journal, rng, options.disturb, until))
    say("Time is up: waiting for what was left")
    await asyncio.sleep(SETTLE_SECONDS)
    await asyncio.gather(*(person.comes_back_to_all() for person in people))
    watching.cancel()


async def watch_memory(web: Web, journal: Journal) -> None:
    """Note the memory of a process every now and then."""
    while True:
        journal.memory.append((time.time(), sockets.memory(web.process.pid)))
        await asyncio.sleep(SAMPLE_SECONDS)


if __name__ == "__main__":
    main()
