"""Answers of 5,000 tokens at 200 a second as Chromium draws them; prints a Markdown table.

    python -m benchmarks.browser [--kinds code,maths] [--json FILE]

docs/benchmarks.md says what it needs. Everything it writes goes into a temporary folder.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
from django.core.management import call_command
from playwright.sync_api import sync_playwright

from benchmarks import browser_report, browser_texts, servers
from ragsite import postgres

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, CDPSession, Page

DEFAULT_TOOLS = servers.ROOT.parent / "shared" / "tools"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-sync",
    "--enable-precise-memory-info",
]
WATCH = Path(__file__).with_name("browser_watch.js").read_text()
# Of each task the time by the clock, and that of the processor: others may have it meanwhile.
TRACED = ["disabled-by-default-devtools.timeline"]
CHUNKS = 500
LONG_RATE = 400
ANSWER_SECONDS = 120
TURNS = 100
LATER = ("/katex/", "/highlight/", "/pdfjs-dist/")
# The same frames, and their text as it comes into one element: nothing is read as markup.
FLOOR = """() => {
  const prose = document.createElement('div');
  prose.className = 'prose';
  document.body.replaceChildren(prose);
  const socket = new WebSocket(`ws://${location.host}/ws/chat/`);
  const ask = { type: 'ask', id: crypto.randomUUID(), text: 'Show paragraphs' };
  socket.onopen = () => socket.send(JSON.stringify(ask));
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(data);
    if (frame.type === 'token') prose.append(frame.text);
    if (frame.type === 'done') prose.dataset.ended = '';
  };
}"""


def main() -> None:
    """Measure, and print the tables."""
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    sys.path.append(str(options.tools))
    state = Path(tempfile.mkdtemp(prefix="benchmark-"))
    state.chmod(0o755)  # the embedded PostgreSQL never runs as root
    try:
        results = measure_all(options, state)
    finally:
        postgres.release(state.resolve())
        shutil.rmtree(state, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(results))
    print(browser_report.table(results))


def arguments() -> argparse.Namespace:
    """Return what to measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = ("floor", *browser_texts.KINDS, browser_texts.LONG, "stored")
    parser.add_argument("--tools", type=Path, default=DEFAULT_TOOLS, help="folder of the tools")
    parser.add_argument("--kinds", default=",".join(every), help="which answers, by commas")
    parser.add_argument("--rate", type=int, default=200, help="tokens a second")
    parser.add_argument("--json", type=Path, help="write all that was measured there")
    options = parser.parse_args()
    options.kinds = options.kinds.split(",")
    if unknown := set(options.kinds) - set(every):
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    return options


def measure_all(options: argparse.Namespace, state: Path) -> dict[str, Any]:
    """Start the provider and the site, and measure in a browser."""
    servers.link_models(state)
    port = servers.free_port()
    path = f"{servers.ROOT}{os.pathsep}{options.tools}"
    command = ["-m", "benchmarks.browser_provider", "--port", str(port)]
    with servers.serving(command, port, state / "provider.log", PYTHONPATH=path) as provider:
        environment = servers.product_environment(state, f"{provider.http}/v1")
        os.environ |= environment | {"REWRITE": "0", "TITLES": "0"}
        postgres.use(state.resolve())
        django.setup()
        from benchmarks.corpus import load  # noqa: PLC0415 - its models need the apps loaded

        call_command("collectstatic", verbosity=0, interactive=False)
        session = load(CHUNKS).session
        stored = stored_conversation()
        with servers.product(state, uvicorn=False) as site, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            context = browser.new_context(
                base_url=site.http, viewport={"width": 1440, "height": 900}
            )
            context.set_default_timeout(ANSWER_SECONDS * 1000)
            context.add_cookies([{"name": "sessionid", "value": session, "url": site.http}])
            context.add_init_script(WATCH)
            results = {"weight": first_load(context), "kinds": {}}
            for kind in options.kinds:
                print(kind, file=sys.stderr, flush=True)
                if kind == "stored":
                    results["kinds"][kind] = opened(context, f"/c/{stored}/", TURNS)
                    continue
                browser.start_tracing(categories=TRACED)
                result = results["kinds"][kind] = answered(context, kind, options.rate)
                result["busy"] = busy(browser.stop_tracing())
                if kind != "floor":
                    result["again"] = opened(context, result["address"], 1)
            browser.close()
    return results


def stored_conversation() -> str:
    """Store a conversation of many turns, each of a few paragraphs; return its id."""
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs the apps loaded

    from chat.models import Conversation, Message, Role, Run, RunState  # noqa: PLC0415

    user = User.objects.get(username="reader")
    conversation = Conversation.objects.create(user=user, title="Many turns")
    for turn in range(TURNS):
        text = browser_texts.paragraphs(turn) + browser_texts.mixed(turn)
        question, answer = (
            Message.objects.create(conversation=conversation, role=role, text=said)
            for role, said in ((Role.USER, f"Question {turn}"), (Role.ASSISTANT, text))
        )
        Run.objects.create(
            conversation=conversation,
            user=user,
            question=question,
            answer=answer,
            state=RunState.COMPLETED,
            finish_reason="stop",
        )
    return str(conversation.pk)


def first_load(context: BrowserContext) -> int:
    """Return the bytes, compressed, that the page for a new conversation fetches."""
    page = context.new_page()
    bodies: dict[str, bytes] = {}
    page.on("response", lambda response: bodies.update({response.url: response.body()}))
    page.goto("/")
    page.wait_for_load_state("networkidle")
    page.close()
    return sum(
        len(gzip.compress(body))
        for url, body in bodies.items()
        if not any(part in url for part in LATER)
    )


def answered(context: BrowserContext, kind: str, rate: int) -> dict[str, Any]:
    """Ask for a kind of answer, and return how it was drawn."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    if kind == "floor":
        page.goto("/healthz")
        before = heap(session)
        page.evaluate(FLOOR)
        page.locator("[data-ended]").wait_for()
        page.wait_for_timeout(500)
        result = measured(page, session)
        result["heap"] -= before
        page.close()
        return result
    page.goto("/")
    page.wait_for_load_state("networkidle")
    pace = max(LONG_RATE, rate) if kind == browser_texts.LONG else rate
    page.locator("#question").fill(f"Show {kind} at {pace} a second")
    # What is typed is searched for ahead when the typing pauses.
    page.wait_for_timeout(1000)
    before = heap(session)
    page.evaluate("measureAnew()")
    page.keyboard.press("Enter")
    page.locator("#chat:not([data-state=done])").wait_for()
    page.locator("#chat[data-state=done]").wait_for()
    page.locator(".answer-actions").first.wait_for(state="attached")
    page.wait_for_timeout(1000)
    result = measured(page, session)
    result["heap"] -= before
    result["address"] = page.url
    page.close()
    return result


def opened(context: BrowserContext, address: str, answers: int) -> dict[str, Any]:
    """Open a conversation, and return what its answers took to draw."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    began = time.monotonic()
    page.goto(address)
    page.wait_for_load_state("load")
    page.locator(".prose[data-rendered]").nth(answers - 1).wait_for(state="attached")
    took = time.monotonic() - began
    page.wait_for_timeout(2000)
    result = measured(page, session) | {"opened": took}
    page.close()
    return result


def busy(trace: bytes) -> list[float]:
    """Return the milliseconds of processor time that each task of a page's main thread took."""
    events = json.loads(trace)["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = (event for event in events if event["name"] == "RunTask" and "tdur" in event)
    return [task["tdur"] / 1000 for task in tasks if (task["pid"], task["tid"]) in threads]


def measured(page: Page, session: CDPSession) -> dict[str, Any]:
    """Return what the page has noted, the size of its heap and of its document."""
    noted: dict[str, Any] = page.evaluate("measured")
    nodes = page.evaluate("document.querySelectorAll('*').length")
    return noted | {"heap": heap(session), "elements": nodes}


def heap(session: CDPSession) -> int:
    """Return the bytes in use by scripts once what is not needed is gone."""
    session.send("HeapProfiler.collectGarbage")
    used: int = session.send("Runtime.getHeapUsage")["usedSize"]
    return used


if __name__ == "__main__":
    main()
