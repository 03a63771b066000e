"""The page by keyboard, by ear, without motion, on any screen, zoomed, and from right to left."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from chat.models import Assistant, Run
from retrieval.models import Collection
from tests import conversations
from tests.browser.conftest import PHONE, NewPage, until
from tests.browser.scripted import ScriptedSocket

WIDTHS = [320, 480, 768, 1024, 1100, 1440, 3840]
GAP_PX = 24
ARABIC = "يمكن رؤية المصباح من مسافة 22 ميلا [1]. أطفئ في عام 1998 [1]."
FOCUSED = "document.activeElement"
# Where the focus is, and whether it is to be seen.
STOP = """() => {
  const element = document.activeElement;
  const box = (element.closest("label") ?? element).getBoundingClientRect();
  const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0
    && box.left < innerWidth && element.matches(":focus-visible");
  return [element.outerHTML.slice(0, 120), seen || element === document.body];
}"""


@pytest.fixture
def run(ada: User) -> Run:
    return conversations.answered(ada)


def tab_to(page: Page, selector: str, key: str = "Tab") -> None:
    """Press a key until the focus is on what the selector names."""
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate(f"(selector) => {FOCUSED}.matches(selector)", selector):
            return
    raise AssertionError(f"no way to {selector}")


def no_wider(page: Page) -> bool:
    """Whether the page needs no scrolling sideways."""
    width: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return width <= 0


def test_a_source_is_read_by_the_keyboard_alone(new_page: NewPage, ada: User, run: Run) -> None:
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    expect(page.get_by_label("Your question")).to_be_focused()
    tab_to(page, ".cite", "Shift+Tab")
    expect(page.locator("#card")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#panel mark")).to_be_visible()
    expect(page.locator("#panel :focus")).to_be_visible()
    tab_to(page, "#citation-previous")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Citation 1 of 2")).to_be_visible()
    tab_to(page, "#citation-next")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Citation 2 of 2")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator(".cite:focus")).to_be_visible()


def test_one_asks_and_stops_by_the_keyboard_alone(scripted: ScriptedSocket) -> None:
    page = scripted.page
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("How far?")
    page.keyboard.press("Enter")
    scripted.begin(scripted.wait_for("ask"))
    scripted.send("token", text="It is")
    expect(page.locator(".prose")).to_have_text("It is")
    page.wait_for_timeout(400)  # a double click on Send must not stop
    tab_to(page, ".stop")
    page.keyboard.press("Enter")
    assert scripted.wait_for("stop")["run"] == scripted.run


def test_the_card_follows_a_mark_that_the_keyboard_brought_into_view(
    new_page: NewPage, ada: User
) -> None:
    text = "It was automated in 1998 [1].\n\n" + "Far away.\n\n" * 60
    run = conversations.answered(ada, answer=text)
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    tab_to(page, ".cite", "Shift+Tab")
    card = page.locator("#card")
    expect(card).to_be_visible()
    # Scrolling tells of itself in the next frame.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    expect(card).to_be_visible()
    page.mouse.move(700, 300)
    page.mouse.wheel(0, 40)
    expect(card).to_be_visible()


def test_wherever_the_keyboard_leads_the_focus_is_seen(
    new_page: NewPage, ada: User, run: Run
) -> None:
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    page.evaluate(f"{FOCUSED}.blur()")
    stops = []
    for _ in range(40):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(STOP))
    assert [where for where, seen in stops if not seen] == []
    assert any("cite" in where for where, _ in stops)
    assert any("question" in where for where, _ in stops)


def test_what_is_said_of_an_answer_is_that_it_comes_and_that_it_is_complete(
    scripted: ScriptedSocket,
) -> None:
    page = scripted.page
    page.evaluate(
        """() => {
          window.said = [];
          const live = document.getElementById("live");
          const note = () => live.textContent && said.push(live.textContent);
          new MutationObserver(note).observe(live, { childList: true });
        }"""
    )
    page.get_by_label("Your question").fill("How far?")
    page.keyboard.press("Enter")
    scripted.begin(scripted.wait_for("ask"))
    for word in ("It ", "is ", "far."):
        scripted.send("token", text=word)
    expect(page.locator(".prose")).to_have_text("It is far.")
    scripted.done("It is far.")
    expect(page.locator("#chat")).to_have_attribute("data-state", "done")
    assert page.evaluate("said") == ["Answering", "Answer complete"]
    heard = "[aria-live]:not([aria-live='off']), [role='status'], [role='log'], [role='alert']"
    assert page.locator(f":is({heard}) .prose").count() == 0


def test_citations_are_named(new_page: NewPage, ada: User, run: Run) -> None:
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    mark = page.get_by_role("button", name="Source 1: Lighthouses of Scotland, page 2").first
    expect(mark).to_have_text("1")


def test_where_motion_is_unwanted_nothing_moves(scripted: ScriptedSocket) -> None:
    page = scripted.page
    page.emulate_media(reduced_motion="reduce")
    page.get_by_label("Your question").fill("How far?")
    page.keyboard.press("Enter")
    scripted.begin(scripted.wait_for("ask"))
    expect(page.locator("#chat")).to_have_attribute("data-state", "searching")
    assert page.evaluate("document.getAnimations().length") == 0
    scripted.send("token", text="Far")
    expect(page.locator("#chat")).to_have_attribute("data-state", "streaming")
    assert page.evaluate("document.getAnimations().length") == 0


def test_no_width_needs_scrolling_sideways(new_page: NewPage, ada: User) -> None:
    wide = "| " + " | ".join("abcdefghijkl" for _ in range(12)) + " |"
    row = "|" + "---|" * 12
    long = f"Far [1].\n\n{wide}\n{row}\n{wide}\n\n```\n{'x' * 400}\n```\n\n{'y' * 400}"
    run = conversations.answered(ada, question="z" * 200, answer=long)
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    for panel in (False, True):
        if panel:
            page.locator(".cite").first.click()
            expect(page.locator("#panel mark")).to_be_visible()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert no_wider(page), (width, panel)


@pytest.mark.parametrize(("size", "zoom"), [((320, 640), 1), ((360, 225), 4)])
def test_a_new_conversation_begins_at_its_top(
    new_page: NewPage, ada: User, run: Run, size: tuple[int, int], zoom: int
) -> None:
    questions = [f"How is the lamp of tower {number} lit, and who keeps it?" for number in range(6)]
    Assistant.objects.create(name="Keeper", is_default=True, suggested_questions=questions)
    viewport = dict(zip(("width", "height"), size, strict=True))
    page = new_page(ada, viewport=viewport, device_scale_factor=zoom)
    page.goto("/")
    expect(page.get_by_role("button", name=questions[-1])).to_be_attached()
    expect(page.get_by_label("Your question")).to_be_focused()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    expect(page.locator(".welcome h2")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.querySelector('#messages').scrollTop") == 0


def test_actions_that_are_not_seen_leave_no_gap_and_move_nothing(
    new_page: NewPage, ada: User, run: Run
) -> None:
    conversations.answered(
        ada, version=run.answer.citations.get(ordinal=0).version, conversation=run.conversation
    )
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    answer = page.locator(".answer").first
    actions, sources = answer.locator(".answer-actions"), answer.locator(".sources")
    expect(actions).to_have_css("opacity", "0")
    text, found = answer.locator(".prose").bounding_box(), sources.bounding_box()
    assert text
    assert found
    assert found["y"] - text["y"] - text["height"] <= GAP_PX
    answer.hover()
    expect(actions).to_have_css("opacity", "1")
    assert sources.bounding_box() == found
    page.mouse.move(5, 5)
    expect(actions).to_have_css("opacity", "0")
    actions.get_by_role("button", name="Ask again").focus()
    expect(actions).to_have_css("opacity", "1")


def test_on_touch_all_actions_are_seen(new_page: NewPage, ada: User, run: Run) -> None:
    conversations.answered(
        ada, version=run.answer.citations.get(ordinal=0).version, conversation=run.conversation
    )
    page = new_page(ada, viewport=PHONE, is_mobile=True, has_touch=True)
    page.goto(f"/c/{run.conversation_id}/")
    for row in page.locator(".answer-actions, .question-actions").all():
        expect(row).to_have_css("opacity", "1")


def test_zoomed_to_four_times_one_reads_and_asks(new_page: NewPage, ada: User) -> None:
    Collection.objects.create(name="Letters")
    run = conversations.answered(ada, answer="The lamp can be seen from far away [1]. " * 20)
    page = new_page(ada, viewport={"width": 320, "height": 256}, device_scale_factor=4)
    page.goto(f"/c/{run.conversation_id}/")
    assert no_wider(page)
    expect(page.get_by_label("Your question")).to_be_in_viewport(ratio=1)
    expect(page.locator("#choice summary")).to_be_in_viewport(ratio=1)
    page.locator("#choice summary").click()
    page.get_by_label("Letters").check()
    expect(page.locator(".choice-scope")).to_have_text("Letters")
    page.locator("#choice summary").click()
    # The question field leaves all of the room below the title to what is read.
    until(
        page,
        """() => {
          document.querySelector(".prose").scrollIntoView();
          return [60, 250].every((y) => document.elementFromPoint(160, y)?.closest(".prose"));
        }""",
    )
    expect(page.locator(".bottom")).not_to_be_in_viewport()


def test_zoomed_to_four_times_a_source_has_the_sheet_for_itself(
    new_page: NewPage, ada: User, run: Run
) -> None:
    run.answer.citations.update(support="unsupported")
    page = new_page(ada, viewport={"width": 320, "height": 256}, device_scale_factor=4)
    page.goto(f"/c/{run.conversation_id}/")
    page.locator(".cite").first.click()
    expect(page.locator("#panel mark")).to_be_in_viewport(ratio=1)
    expect(page.locator("#panel [data-support]")).to_be_attached()
    page.evaluate("document.querySelector('#panel mark').scrollIntoView()")
    expect(page.locator("#panel [data-support]")).not_to_be_in_viewport()
    page.locator("#panel h2").scroll_into_view_if_needed()
    expect(page.locator("#panel h2")).to_be_in_viewport(ratio=1)


def test_an_answer_from_right_to_left_is_set_so(new_page: NewPage, ada: User) -> None:
    run = conversations.answered(ada, question="من أي مسافة يرى المصباح؟", answer=ARABIC)
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    mark, text = page.locator(".cite").first.bounding_box(), page.locator(".prose").bounding_box()
    assert mark
    assert text
    expect(page.locator(".prose p").first).to_have_css("direction", "rtl")
    # The line begins at the right, and the mark follows its words to the left.
    assert mark["x"] + mark["width"] < text["x"] + text["width"] - 100


def test_a_page_from_right_to_left_is_mirrored(new_page: NewPage, ada: User, run: Run) -> None:
    page = new_page(ada)
    page.goto(f"/c/{run.conversation_id}/")
    page.evaluate("() => { document.documentElement.dir = 'rtl' }")
    page.locator(".cite").first.click()
    expect(page.locator("#panel mark")).to_be_visible()
    until(page, "document.getAnimations().every((a) => a.playState === 'finished')")
    column = page.locator("#messages").bounding_box()
    sidebar, panel = page.locator("#sidebar").bounding_box(), page.locator("#panel").bounding_box()
    assert column
    assert sidebar
    assert panel
    assert panel["x"] < column["x"] < sidebar["x"]
    assert no_wider(page)


@pytest.mark.parametrize("width", [3840])
def test_pages_of_the_administration_fit(
    new_page: NewPage, ada: User, run: Run, width: int
) -> None:
    page = new_page(ada, viewport={"width": width, "height": 900})
    document = conversations.document(title="Second").document
    for address in (
        "/admin/retrieval/document/upload/",
        "/admin/retrieval/document/queue/",
        f"/admin/retrieval/document/{document.pk}/change/",
        f"/admin/chat/conversation/{run.conversation_id}/change/",
        "/admin/limits/limit/use/",
    ):
        page.goto(address)
        assert no_wider(page), address
