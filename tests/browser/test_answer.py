"""What the page makes of the frames it is sent."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from playwright.sync_api import Page, expect

from tests.browser.conftest import until
from tests.browser.scripted import ScriptedSocket


def ask(scripted: ScriptedSocket, text: str = "How far?") -> Page:
    """Ask, and begin a run that answers."""
    page = scripted.page
    page.get_by_label("Your question").fill(text)
    page.keyboard.press("Enter")
    scripted.begin(scripted.wait_for("ask"))
    expect(page.locator("#chat")).to_have_attribute("data-state", "searching")
    return page


def citation(text: str, index: int, quote: str = "It was seen.", **fields: Any) -> dict[str, Any]:
    """Return a citation frame's fields for the last marker `[index]` in `text`."""
    start = text.rindex(f"[{index}]")
    return {
        "index": index,
        "title": "Lighthouses",
        "page": 3,
        "quote": quote,
        "span": [start, start + len(f"[{index}]")],
        "is_new": True,
        "source": None,
        **fields,
    }


def test_the_first_status_gives_a_new_conversation_its_address(scripted: ScriptedSocket) -> None:
    page = scripted.page
    page.get_by_label("Your question").fill("How far?")
    page.keyboard.press("Enter")
    message = scripted.wait_for("ask")
    assert message["text"] == "How far?"
    assert not message.keys() - {"type", "text", "id"}
    conversation = str(uuid4())
    scripted.begin(message, conversation=conversation)
    page.wait_for_url(f"**/c/{conversation}/")
    scripted.done("")
    page.get_by_label("Your question").fill("And then?")
    page.keyboard.press("Enter")
    assert scripted.wait_for("ask")["conversation"] == conversation


def test_the_status_line_gives_way_to_the_first_token_without_a_jump(
    scripted: ScriptedSocket,
) -> None:
    page = ask(scripted)
    answer = page.locator(".answer")
    results = [{"index": n, "document_id": str(n % 2), "title": "", "page": None} for n in (1, 2)]
    unused = {"index": None, "document_id": "9", "title": "", "page": None}
    scripted.send("search_results", results=[*results, unused], query="", retrieval_ms=5)
    expect(answer.locator(".status")).to_have_text("2 passages in 2 documents")
    before = answer.bounding_box()
    scripted.send("token", text="Far")
    expect(answer.locator(".prose")).to_have_text("Far")
    expect(answer.locator(".status")).to_be_hidden()
    after = answer.bounding_box()
    assert before and after
    assert abs(before["height"] - after["height"]) < 1


def test_markdown_grows_and_only_its_last_block_is_drawn_again(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="# One\n\nFirst **bold** words.\n\n- a\n")
    first = page.locator(".prose p").first.element_handle()
    scripted.send("token", text="- b\n\nLast.")
    expect(page.locator(".prose li")).to_have_count(2)
    expect(page.locator(".prose h3")).to_have_text("One")
    assert first.evaluate("(p) => p.isConnected && p.querySelector('strong') !== null")
    scripted.done("# One\n\nFirst **bold** words.\n\n- a\n- b\n\nLast.")
    expect(page.locator("#chat")).to_have_attribute("data-state", "done")
    assert first.evaluate("(p) => p.isConnected")


def test_citations_become_buttons_where_their_spans_are(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    parts = ["**Seen 🗼 far.** [1]", " In code `a[1]` and [2024]. Far [2][1]."]
    scripted.send("token", text=parts[0])
    scripted.send("citation", **citation(parts[0], 1))
    scripted.send("token", text=parts[1])
    text = "".join(parts)
    scripted.send("citation", **citation(text, 2))
    scripted.send("citation", **citation(text, 1))
    marks = page.locator(".prose .cite")
    expect(marks).to_have_text(["1", "2", "1"])
    expect(page.locator(".prose code")).to_have_text("a[1]")
    expect(page.locator(".prose")).to_contain_text("[2024]")
    expect(page.locator(".prose strong")).to_have_text("Seen 🗼 far.")


def test_a_card_shows_the_cited_sentence(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="Far [1].")
    scripted.send("citation", **citation("Far [1].", 1, quote="<b>22</b> miles."))
    mark = page.locator(".cite")
    mark.hover()
    card = page.locator("#card")
    expect(card).to_be_visible()
    expect(card).to_contain_text("<b>22</b> miles.")
    expect(card).to_contain_text("Page 3")
    expect(mark).to_have_attribute("aria-describedby", "card")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(page.locator("#chat")).to_have_attribute("data-state", "streaming")


def test_hostile_tokens_change_nothing_but_the_text(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    hostile = (
        # Without quotes it would be an element of that id even inside of JSON.
        "<div id=messages>gone</div>\n\n<img src=x onerror='window.hacked = 1'> "
        "<script>window.hacked = 1</script> ![x](https://example.org/x.png) "
        '<a href="#" onclick="window.hacked = 1">a</a> [b](javascript:alert(1)) '
        '<svg onload="window.hacked = 1"></svg> <b style="position:fixed">c</b>'
        "\n\n<form action=/><input name=q></form>"
    )
    scripted.send("token", text=hostile)
    scripted.done(hostile)
    expect(page.locator("#chat")).to_have_attribute("data-state", "done")
    prose = page.locator(".prose")
    expect(prose).to_contain_text("<div id=messages>gone</div>")
    assert prose.locator("img, script, svg, form, input, style, [style], [onclick]").count() == 0
    assert page.locator("#messages #thread .prose").count() == 1
    assert prose.locator("a[href^='javascript']").count() == 0
    assert page.evaluate("window.hacked") is None


def test_links_open_outside_and_tell_nothing(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="[there](https://example.org/a)")
    link = page.locator(".prose a")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(link).to_have_attribute("target", "_blank")


def test_repeated_frames_are_dropped_and_a_gap_is_asked_for(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="one ")
    repeated = {"type": "token", "run": scripted.run, "seq": 2, "text": "one "}
    scripted.send_raw(repeated)
    scripted.send_raw({"type": "token", "run": scripted.run, "seq": 4, "text": "three"})
    assert scripted.wait_for("resume") == {"type": "resume", "run": scripted.run, "after": 2}
    scripted.send("token", text="two ")
    scripted.send("token", text="three")
    expect(page.locator(".prose")).to_have_text("one two three")


def test_what_the_server_cannot_send_for_now_is_asked_for_again(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="one ")
    expect(page.locator(".prose")).to_have_text("one")
    failed = {"type": "error", "run": None, "seq": 0, "ask": None, "message": "Away."}
    scripted.send_raw(failed | {"code": "unavailable", "recoverable": True})
    assert scripted.wait_for("resume") == {"type": "resume", "run": scripted.run, "after": 2}
    scripted.send_raw(failed | {"code": "unavailable", "recoverable": True})
    assert scripted.wait_for("resume") == {"type": "resume", "run": scripted.run, "after": 2}
    scripted.send("token", text="two")
    expect(page.locator(".prose")).to_have_text("one two")
    expect(page.locator("#chat")).to_have_attribute("data-state", "streaming")


def test_a_stop_that_was_lost_is_sent_again(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="one ")
    page.keyboard.press("Escape")
    assert scripted.wait_for("stop") == {"type": "stop", "run": scripted.run}
    assert scripted.route is not None
    scripted.route.close(code=1012)
    assert scripted.wait_for("resume") == {"type": "resume", "run": scripted.run, "after": 2}
    assert scripted.wait_for("stop") == {"type": "stop", "run": scripted.run}
    scripted.done("one ", reason="cancelled")
    expect(page.locator("#chat")).to_have_attribute("data-state", "cancelled")


def test_a_snapshot_replaces_the_text(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="wrong")
    scripted.send("snapshot", text="right", citations=[])
    expect(page.locator(".prose")).to_have_text("right")


def test_stop_takes_the_place_of_send(scripted: ScriptedSocket) -> None:
    page = scripted.page
    page.get_by_label("Your question").fill("x")
    send = page.get_by_role("button", name="Send").bounding_box()
    ask(scripted)
    stop = page.get_by_role("button", name="Stop")
    assert stop.bounding_box() == send
    until(page, "performance.now() > 0")
    scripted.send("token", text="Half an ans")
    page.wait_for_timeout(400)  # a double click on Send must not stop
    stop.click()
    assert scripted.wait_for("stop") == {"type": "stop", "run": scripted.run}
    scripted.done("Half an ans", reason="cancelled")
    expect(page.locator(".answer")).to_have_attribute("data-state", "cancelled")
    expect(page.locator("[data-notice=cancelled]")).to_contain_text("Stopped")
    expect(stop).to_be_hidden()
    expect(page.locator(".cursor")).to_have_count(0)


def test_escape_stops(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    page.keyboard.press("Escape")
    assert scripted.wait_for("stop")["run"] == scripted.run


def test_an_error_stands_in_place_and_can_be_tried_again(scripted: ScriptedSocket) -> None:
    page = ask(scripted, "How <far>?")
    scripted.send("token", text="Half an ans")
    scripted.send("error", code="rate_limited", message="Busy, <b>wait</b>.", recoverable=True)
    notice = page.locator(".answer [data-notice=failed]")
    expect(notice).to_contain_text("Busy, <b>wait</b>.")
    expect(page.locator(".prose")).to_have_text("Half an ans")
    notice.get_by_role("button", name="Try again").click()
    assert scripted.wait_for("ask")["text"] == "How <far>?"


def test_a_refused_question_says_why(scripted: ScriptedSocket) -> None:
    page = scripted.page
    page.get_by_label("Your question").fill("x")
    page.keyboard.press("Enter")
    message = scripted.wait_for("ask")
    refusal = {"code": "busy", "message": "Still answering.", "recoverable": True}
    scripted.send_raw({"type": "error", "run": None, "seq": 0, "ask": message["id"], **refusal})
    expect(page.locator("[data-notice=failed]")).to_contain_text("Still answering.")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def test_scrolling_follows_only_at_the_bottom(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    text = "A line of text.\n\n" * 60
    scripted.send("token", text=text)
    bottom = "(e) => e.scrollHeight - e.scrollTop - e.clientHeight"
    until(page, "document.querySelectorAll('.prose p').length === 60")
    pane = page.locator("#messages")
    assert pane.evaluate(bottom) < 2
    jump = page.get_by_role("button", name="Jump to latest")
    expect(jump).to_be_hidden()
    pane.hover()
    page.mouse.wheel(0, -400)
    expect(jump).to_be_visible()
    top = pane.evaluate("(e) => e.scrollTop")
    scripted.send("token", text="More.\n\n" * 20)
    until(page, "document.querySelectorAll('.prose p').length === 80")
    assert pane.evaluate("(e) => e.scrollTop") == top
    jump.click()
    expect(jump).to_be_hidden()
    scripted.send("token", text="Last.\n\n" * 20)
    until(page, "document.querySelectorAll('.prose p').length === 100")
    assert pane.evaluate(bottom) < 2


def test_a_reader_who_goes_up_while_the_text_changes_is_not_pulled_back(
    scripted: ScriptedSocket,
) -> None:
    page = ask(scripted)
    scripted.send("token", text="A line of text.\n\n" * 60)
    until(page, "document.querySelectorAll('.prose p').length === 60")
    pane = page.locator("#messages")
    # The reader's move and the text's, longer or shorter, are seen in one and the same event.
    for change in ("e.append(e.lastElementChild.cloneNode(true))", "e.lastElementChild.remove()"):
        pane.evaluate("(e) => { e.scrollTop = e.scrollHeight; }")
        expect(page.get_by_role("button", name="Jump to latest")).to_be_hidden()
        page.locator(".prose").last.evaluate(
            f"(e) => {{ e.closest('#messages').scrollTop -= 300; {change}; }}"
        )
        expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()


def test_a_reader_at_the_bottom_stays_there_through_an_error(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="A line of text.\n\n" * 60)
    scripted.send("error", code="dropped", message="The line broke.", recoverable=True)
    expect(page.locator("[data-notice=failed]")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Jump to latest")).to_be_hidden()


def test_a_lost_connection_is_shown_and_the_run_resumed(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="one ")
    expect(page.locator(".prose")).to_have_text("one")
    assert scripted.route is not None
    scripted.route.close(code=1012)
    assert scripted.wait_for("resume") == {"type": "resume", "run": scripted.run, "after": 2}
    scripted.send("token", text="two")
    expect(page.locator(".prose")).to_have_text("one two")
