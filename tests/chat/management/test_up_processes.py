"""The whole site by one command, with two web processes."""

from __future__ import annotations

import re
import signal

import httpx
import psutil

from tests.chat.management.conftest import START_SECONDS, Site, read_until
from tests.servers import Server, wait_until


def servers(site: Site) -> list[psutil.Process]:
    """Return the processes that serve."""
    web = site.child("web")
    return web.children() if web else []


def test_it_runs_and_is_started_again_and_leaves_no_process(site: Site, redis: Server) -> None:
    url = f"redis://127.0.0.1:{redis.port}/0"
    site.process = site.command("up", WEB_PROCESSES="2", REDIS_URL=url)
    read_until(site.process, re.compile(rb"The site runs at .*\n"))
    first = servers(site)
    assert len(first) == 2
    assert httpx.get(f"{site.address}healthz").status_code == 200
    web = site.child("web")
    assert web is not None
    web.kill()
    wait_until(lambda: site.child("web") not in (None, web), "the web server runs", START_SECONDS)
    wait_until(site.is_healthy, "it serves again", START_SECONDS)
    _, left = psutil.wait_procs(first, timeout=15)
    assert left == []
    assert len(servers(site)) == 2
    assert site.end(signal.SIGINT) == []
