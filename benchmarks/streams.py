"""Load on the streaming path, in one run with a floor and a baseline; prints a Markdown table.

    python -m benchmarks.streams [--quick] [--systems floor,baseline,product,two,uvicorn]

docs/benchmarks.md says what it needs. Everything it writes goes into a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
import psutil

from benchmarks import report, servers, sockets
from ragsite import postgres

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.corpus import Loaded
    from benchmarks.servers import Server

SYSTEMS = ("floor", "baseline", "product", "two", "uvicorn")
DEFAULT_TOOLS = servers.ROOT.parent / "shared" / "tools"
RAMP_SECONDS = 5


def main() -> None:
    """Measure what was asked for, and print the table."""
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("Stopped."))
    if not (options.tools / "bench_chat.py").exists():
        sys.exit(f"There are no benchmark tools in {options.tools}. Name their folder: --tools")
    if not (options.tools / "floors" / "channels_app.py").exists() and "floor" in options.systems:
        print(f"The floor is not in {options.tools}/floors: measured without it.", file=sys.stderr)
        options.systems.remove("floor")
    sys.path.append(str(options.tools))
    state = Path(tempfile.mkdtemp(prefix="benchmark-"))
    state.chmod(0o755)  # the embedded PostgreSQL never runs as root
    try:
        results = measure_all(options, state)
    finally:
        postgres.release(state.resolve())
        shutil.rmtree(state, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    print(report.table(results, options.levels, options.idle))
    load = ", ".join(f"{name} {result['load']:.1f}" for name, result in results.items())
    print(f"\n{os.cpu_count()} cores; load average before each: {load}.")


def arguments() -> argparse.Namespace:
    """Return what to measure, and how much of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, default=DEFAULT_TOOLS, help="folder of the tools")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="which, by commas")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--levels", default="100,200", help="streams at once, by commas")
    parser.add_argument("--idle", type=int, default=2000, help="sockets that do nothing")
    parser.add_argument("--quick", action="store_true", help="only to see that it runs")
    parser.add_argument("--json", type=Path, help="write all that was measured there")
    options = parser.parse_args()
    options.systems = [name for name in options.systems.split(",") if name]
    if unknown := set(options.systems) - set(SYSTEMS):
        parser.error(f"unknown systems: {', '.join(sorted(unknown))}")
    options.levels = [int(level) for level in options.levels.split(",")]
    if options.quick:
        options.chunks, options.levels, options.idle = 500, [10], 50
    return options


def measure_all(options: argparse.Namespace, state: Path) -> dict[str, Any]:
    """Start one system after the other beside the provider, and measure each."""
    results: dict[str, Any] = {}
    with ExitStack() as stack:
        port = servers.free_port()
        provider = stack.enter_context(servers.provider(options.tools, state, port))
        api = f"{provider.http}/v1"
        os.environ.update(servers.product_environment(state, api))
        postgres.use(state.resolve())
        django.setup()
        from benchmarks.corpus import load  # noqa: PLC0415 - its models need the apps loaded

        began = time.monotonic()
        loaded = load(options.chunks)
        say(f"{options.chunks:,} chunks loaded in {time.monotonic() - began:.0f} s")
        for name in options.systems:
            server: Callable[[], AbstractContextManager[Server]] = {
                "floor": lambda: servers.floor(options.tools, state, api),
                "baseline": lambda: servers.baseline(options.tools, state, api, loaded.baseline),
                "product": lambda: servers.product(state, uvicorn=False),
                "two": lambda: servers.two_processes(state),
                "uvicorn": lambda: servers.product(state, uvicorn=True),
            }[name]
            load_average = psutil.getloadavg()[0]
            with server() as running:
                results[name] = measure(name, running, provider, loaded, options)
                results[name]["load"] = load_average
    return results


def measure(
    name: str, server: Server, provider: Server, loaded: Loaded, options: argparse.Namespace
) -> dict[str, Any]:
    """Drive one system with all that applies to it."""
    client = client_of(name, server, loaded)

    def drive(tests: str) -> dict[str, Any]:
        say(f"{name}: {tests}")
        return run_tool(tests, client, server, provider, loaded, options)

    result = drive("first")
    # Only now has the process loaded what it needs for an answer.
    result["idle_bytes"] = sockets.memory(server.pid)
    result |= drive("throughput,stop")
    if name in ("product", "two", "uvicorn"):
        url, headers = client.url, client.options["headers"]
        times = 3 if options.quick else 20
        result["grace"] = servers.GRACE_SECONDS
        result["prefetched_ms"] = asyncio.run(
            sockets.first_token_after_prefetch(url, headers, loaded.question, times)
        )
        say(f"{name}: {options.idle:,} idle sockets")
        result["idle_sockets"] = asyncio.run(
            sockets.idle_sockets(url, headers, server.pid, options.idle)
        )
    return result | drive("concurrency")


@dataclass(frozen=True)
class LoadClient:
    """How the load tool talks to a system: its adapter, the address, and the adapter's options."""

    adapter: str
    url: str
    options: dict[str, Any]


def client_of(name: str, server: Server, loaded: Loaded) -> LoadClient:
    """Return how to talk to a system."""
    if name == "baseline":
        body = {"model": "$model", "q": "$q"}
        return LoadClient(
            "sse", server.http, {"path": "/chat", "body": body, "text": "text", "event": "token"}
        )
    if name == "floor":
        return LoadClient("ws", f"ws://{server.address}/ws", {})
    headers = {"Cookie": f"sessionid={loaded.session}", "Origin": server.http}
    ask = {"type": "ask", "text": "$q", "model": "$model"}
    # The tool takes slashes off the end of an address; a query keeps them.
    url = f"ws://{server.address}/ws/chat/?"
    return LoadClient("ws", url, {"headers": headers, "send": ask})


def run_tool(  # noqa: PLR0913, PLR0917 - all of what one call of the tool needs
    tests: str,
    client: LoadClient,
    server: Server,
    provider: Server,
    loaded: Loaded,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Run the load tool and return what it measured. Raises CalledProcessError."""
    few = ["--n-first", "3", "--n-stop", "1", "--repeats", "1", "--throughput-tokens", "500"]
    with tempfile.NamedTemporaryFile("r") as out:
        command = [
            *(sys.executable, options.tools / "bench_chat.py"),
            *("--system", client.adapter, "--url", client.url),
            *("--opts", json.dumps(client.options), "--provider", provider.http),
            *("--pid", str(server.pid), "--tests", tests, "--out", out.name),
            *("--question", f"{loaded.question} $i", "--ramp", str(RAMP_SECONDS)),
            *("--levels", ",".join(map(str, options.levels))),
            *(few if options.quick else []),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        measured: dict[str, Any] = json.loads(out.read())
        return measured


def say(text: str) -> None:
    """Tell how far it is, apart from the table."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
