"""Real pages before two web processes, nginx and Redis: cut off, drained, killed, and stopped."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from chat.models import Message, Role, Run, RunState
from tests.browser.conftest import NewPage, browser, errors, forgiven, new_page
from tests.browser.test_whole_path import armed, ask, state
from tests.deploy.conftest import END_SECONDS, Web
from tests.provider import Answer, Provider
from tests.servers import Relay, Server, nginx, wait_until

__all__ = ["browser", "errors", "forgiven", "new_page"]

QUESTION = "How high is the tower of Lund?"
AWAY_SECONDS = 20
BACK_MS = 8000
# What an answer shows, with its citations written as the model wrote them.
SHOWN = """(prose) => {
  const copy = prose.cloneNode(true);
  copy.querySelectorAll(".cite").forEach((mark) => mark.replaceWith(`[${mark.textContent}]`));
  return copy.textContent;
}"""


@dataclass
class Cluster:
    """Two web processes behind nginx, which browsers reach through a relay."""

    webs: list[Web]
    relay: Relay

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.relay.port}"

    def owner(self, run: Run) -> tuple[Web, Web]:
        """Return the process that works on a run, and the other."""
        first, second = self.webs
        return (first, second) if f":{first.process.pid}:" in run.owner else (second, first)


@pytest.fixture
def cluster(start_web: Callable[..., Web], redis: Server, tower: None) -> Iterator[Cluster]:
    url = f"redis://127.0.0.1:{redis.port}/0"
    webs = [start_web(REDIS_URL=url, RUN_GRACE_SECONDS="30") for _ in range(2)]
    with nginx(*(web.port for web in webs)) as port:
        relay = Relay(port)
        relay.open()
        yield Cluster(webs, relay)
        relay.cut()


@pytest.fixture
def site(cluster: Cluster) -> str:
    """Return where pages are opened."""
    return cluster.url


@pytest.fixture
def page(new_page: NewPage, ada: User, model: Provider) -> Page:
    """Return a page on which an answer of ten sentences has begun, three of which it shows."""
    model.script(Answer(tokens=sentences(10)))
    page = new_page(ada)
    page.goto("/")
    ask(page, QUESTION)
    page.wait_for_url("**/c/*/")
    page.wait_for_load_state("networkidle")
    model.release(3)
    expect(page.locator(".prose .cite")).to_have_count(3)
    return page


def sentences(count: int, subject: str = "Floor") -> list[str]:
    """Return sentences that all differ, so that a doubled one is seen."""
    return [f"{subject} {number} is high[1]. " for number in range(1, count + 1)]


def shown(page: Page) -> str:
    """Return the last answer's text as it is on the page."""
    text: str = page.locator(".answer .prose").last.evaluate(SHOWN)
    return text.strip()


def stored(run: Run) -> str:
    """Return a run's answer as it is stored."""
    return Message.objects.get(id=run.answer_id).text.strip()


def assert_whole(page: Page, text: str) -> None:
    """Check that page, store and a reload agree on the last answer, and on its citations."""
    run = Run.objects.latest("created_at")
    assert shown(page) == stored(run) == text.strip()
    cited = run.answer.citations.count()
    expect(page.locator(".answer").last.locator(".prose .cite")).to_have_count(cited)
    assert cited == text.count("[1]")
    page.reload()
    assert shown(page) == text.strip()
    expect(page.locator(".answer").last.locator(".prose .cite")).to_have_count(cited)


def drain(web: Web) -> None:
    """Send SIGTERM, and return when the process passes on new sockets."""
    web.process.send_signal(signal.SIGTERM)
    wait_until(lambda: httpx.get(f"{web.url}/healthz").status_code == 503, "it drains")


def test_a_page_cut_off_from_a_process_that_drains_goes_on_at_the_other(
    page: Page, cluster: Cluster, model: Provider
) -> None:
    owner, other = cluster.owner(Run.objects.get())
    drain(owner)
    model.release(2)
    expect(page.locator(".prose .cite")).to_have_count(5)
    cluster.relay.drop()
    model.release(2)
    expect(page.locator(".prose .cite")).to_have_count(7)
    assert owner.process.poll() is None
    model.release(100)
    state(page, "done")
    assert owner.process.wait(END_SECONDS) == 0
    assert Run.objects.get().state == RunState.COMPLETED
    assert_whole(page, "".join(sentences(10)))
    model.script(Answer(tokens=sentences(2, "Step")))
    ask(page, "And the stairs of the tower?")
    state(page, "done")
    assert str(other.process.pid) in Run.objects.latest("created_at").owner


def test_a_page_that_was_without_a_network_for_long_is_back_before_its_answer_is_given_up(
    page: Page, cluster: Cluster, model: Provider, errors: list[str]
) -> None:
    cluster.relay.cut()
    away = time.monotonic()
    model.release(4)
    expect(page.locator("#chat")).to_have_attribute("data-away", "")
    wait_until(lambda: time.monotonic() - away > AWAY_SECONDS, "it was away", AWAY_SECONDS + 5)
    cluster.relay.open()
    expect(page.locator(".prose .cite")).to_have_count(7, timeout=BACK_MS)
    expect(page.locator("#chat")).not_to_have_attribute("data-away", "")
    model.release(100)
    state(page, "done")
    assert_whole(page, "".join(sentences(10)))
    # The browser tells of each attempt that failed, and htmx after it.
    errors[:] = [said for said in errors if not re.search(r"/ws/chat/|^\[object Event\]", said)]


def test_a_page_that_stays_reads_to_the_end_and_asks_again_at_the_other(
    page: Page, cluster: Cluster, model: Provider
) -> None:
    owner, _ = cluster.owner(Run.objects.get())
    drain(owner)
    model.release(100)
    state(page, "done")
    assert owner.process.wait(END_SECONDS) == 0
    model.script(Answer(tokens=sentences(2, "Step")))
    ask(page, "And the stairs of the tower?")
    state(page, "done")
    expect(page.locator(".answer")).to_have_count(2)
    assert_whole(page, "".join(sentences(2, "Step")))


def test_a_page_whose_process_is_killed_keeps_what_it_showed_and_asks_again_at_the_other(
    page: Page, cluster: Cluster, model: Provider
) -> None:
    run = Run.objects.get()
    wait_until(lambda: stored(run).count("[1]") == 3, "what was streamed is stored", seconds=5)
    owner, other = cluster.owner(run)
    owner.process.kill()
    killed = time.monotonic()
    state(page, "interrupted")
    assert time.monotonic() - killed < settings.RUN_LEASE_SECONDS + 5
    assert shown(page) == stored(run) == "".join(sentences(3)).strip()
    notice = page.locator("[data-notice=interrupted]")
    expect(notice).to_be_visible()
    model.script(Answer(tokens=sentences(4, "Stair")))
    model.release(100)
    notice.get_by_role("button", name="Regenerate").click()
    state(page, "done")
    assert str(other.process.pid) in Run.objects.latest("created_at").owner
    assert_whole(page, "".join(sentences(4, "Stair")))
    expect(page.locator(".answer").first.locator(".prose .cite")).to_have_count(3)


def test_stop_on_a_page_of_one_process_stops_the_run_of_the_other(
    page: Page, cluster: Cluster, model: Provider, new_page: NewPage, ada: User
) -> None:
    _, other = cluster.owner(Run.objects.get())
    second = new_page(ada, base_url=other.url)
    second.goto(page.url.replace(cluster.url, other.url))
    expect(second.locator(".prose .cite")).to_have_count(3)
    request = model.wait_for_request()
    armed(second)
    pressed = time.monotonic()
    second.get_by_role("button", name="Stop").click()
    assert request.closed.result(5) - pressed < 1
    for each in (page, second):
        state(each, "cancelled")
        expect(each.locator("[data-notice=cancelled]")).to_be_visible()
        assert shown(each) == "".join(sentences(3)).strip()
    assert Run.objects.get().state == RunState.CANCELLED
    assert Message.objects.get(role=Role.ASSISTANT).text.strip() == shown(page)
