"""Markdown as it grows: maths, code, long blocks, and what stays as it is meanwhile."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage
from tests.browser.scripted import ScriptedSocket
from tests.browser.test_answer import ask, citation

DRAW = """async ([text, step]) => {
  const { AnswerText } = await import('/static/js/answer.js');
  const prose = document.createElement('div');
  prose.className = 'prose';
  document.body.replaceChildren(prose);
  const answer = new AnswerText(prose);
  for (let at = 0; at < text.length; at += step) {
    answer.append(text.slice(at, at + step));
    answer.draw();
  }
  answer.finish();
  return prose.innerHTML;
}"""
ADOPT = """async (text) => {
  const { AnswerText } = await import('/static/js/answer.js');
  const prose = document.createElement('div');
  prose.className = 'prose';
  prose.textContent = text;
  document.body.replaceChildren(prose);
  const answer = new AnswerText(prose);
  answer.adopt([]);
  const before = prose.textContent;
  while (prose.dataset.rendered === undefined) await new Promise(requestAnimationFrame);
  return before;
}"""
# How many nodes change when so much more text comes.
CHANGES = """async ([text, more]) => {
  const { AnswerText } = await import('/static/js/answer.js');
  const prose = document.createElement('div');
  document.body.append(prose);
  const answer = new AnswerText(prose);
  answer.append(text);
  answer.draw();
  const observer = new MutationObserver(() => {});
  observer.observe(prose, { childList: true, subtree: true, characterData: true });
  answer.append(more);
  answer.draw();
  return observer.takeRecords().length;
}"""
SETTLED = """async (texts) => {
  const { settled } = await import('/static/js/settling.js');
  return texts.map(settled);
}"""
LONG = {
    "paragraph": "".join(f"Sentence *number* {n} says **that** `x` is {n}. " for n in range(200)),
    "table": "| a | b |\n|---|--:|\n" + "".join(f"| row *{n}* | {n} |\n" for n in range(300)),
    "list": "".join(f"{n}. item **{n}**\n    - below\n" for n in range(1, 200)),
    "code": "```python\n"
    + "".join(f"def f{n}():\n    return {n}\n\n" for n in range(150))
    + "```\n",
}


@pytest.fixture
def page(new_page: NewPage) -> Page:
    """Return a page of the site on which answers can be drawn."""
    page = new_page()
    page.goto("/accounts/login/")
    return page


def draw(page: Page, text: str, step: int = 0) -> Any:
    """Draw an answer, whole or `step` characters at a time; return its HTML."""
    return page.evaluate(DRAW, [text, step or len(text)])


def rested(page: Page) -> Any:
    """Return the answer's HTML when everything that waits for a free moment is done."""
    return page.evaluate("""async () => {
      const { later } = await import('/static/js/slices.js');
      await new Promise(later);
      return document.querySelector('.prose').innerHTML;
    }""")


def test_maths_is_drawn_as_mathml(page: Page) -> None:
    draw(page, "So $x^2$, \\(y\\) and\n\n$$\n\\frac{a}{b}\n$$\n\nand \\[z\\] .")
    expect(page.locator(".prose math")).to_have_count(4)
    expect(page.locator("math[display=block]")).to_have_count(2)
    assert page.locator(".prose [style], .prose annotation").count() == 0


@pytest.mark.parametrize(
    "text",
    ["It costs $5 and $10.", "US$ 5 to US$ 6, or $7-$9", "$HOME and $PATH", "a \\$x\\$ b", "$ 5 $"],
)
def test_money_and_names_are_no_maths(page: Page, text: str) -> None:
    assert 'class="math"' not in draw(page, text)


@pytest.mark.parametrize("text", ["$5$", "$10^{-3}$", "$2 x = 4$", "$a+b$,", "($x$)"])
def test_maths_may_begin_with_a_number(page: Page, text: str) -> None:
    assert 'class="math"' in draw(page, text)


def test_what_is_no_tex_stays_as_it_was_written(page: Page) -> None:
    draw(page, "Look: $\\frac{a$ and $x$")
    expect(page.locator(".prose math")).to_have_count(1)
    expect(page.locator(".math.source")).to_have_text("\\frac{a")


def test_tasks_show_whether_they_are_done(page: Page) -> None:
    text = "- [ ] Trim the wick\n- [x] Wind the clock\n\n1. [X] Light\n\n   it\n"
    whole = draw(page, text)
    assert draw(page, text, 1) == whole
    items = page.locator(".prose li")
    expect(items).to_have_text(["☐ Trim the wick", "☑ Wind the clock", re.compile("☑ Light\\s*it")])
    expect(items.nth(0).get_by_role("img", name="Not done", exact=True)).to_be_visible()
    expect(items.nth(1).get_by_role("img", name="Done", exact=True)).to_be_visible()
    expect(page.locator(".prose input")).to_have_count(0)
    page.evaluate(ADOPT, text)
    expect(items.nth(1)).to_have_text("☑ Wind the clock")


def test_code_is_coloured_and_can_be_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-write"])
    draw(page, "```python\ndef f(x):\n    return 1\n```")
    expect(page.locator(".hljs-keyword").first).to_have_text("def")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("textarea").focus()
    page.keyboard.press("Control+V")
    expect(page.locator("textarea")).to_have_value("def f(x):\n    return 1\n")


def test_libraries_are_loaded_when_first_needed(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.split("/vendor/")[-1]))
    draw(page, "Text, **bold**, `code`, $5.")
    assert not [name for name in asked if "katex" in name or "highlight" in name]
    draw(page, "$x$\n\n```js\nlet x\n```")
    expect(page.locator("math")).to_be_visible()
    expect(page.locator(".hljs-keyword")).to_be_visible()


@pytest.mark.parametrize("kind", LONG)
def test_a_long_block_grows_into_what_it_is_as_a_whole(page: Page, kind: str) -> None:
    draw(page, "```js\nlet x\n```")
    expect(page.locator(".hljs-keyword")).to_be_visible()
    text = f"Before.\n\n{LONG[kind]}\n\nAfter."
    draw(page, text)
    whole = rested(page)
    draw(page, text, 97)
    assert rested(page) == whole
    assert whole.count('class="block"') == 3


@pytest.mark.parametrize("kind", LONG)
def test_a_stored_answer_is_drawn_as_one_that_was_streamed(page: Page, kind: str) -> None:
    draw(page, "```js\nlet x\n```")
    expect(page.locator(".hljs-keyword")).to_be_visible()
    text = f"Before.\n\n{LONG[kind]}\n\n$x^2$ after."
    draw(page, text, 97)
    expect(page.locator(".prose math")).to_be_visible()
    streamed = rested(page)
    assert page.evaluate(ADOPT, text) == text
    assert rested(page) == streamed


@pytest.mark.parametrize("kind", LONG)
def test_what_is_finished_of_a_long_block_is_not_drawn_again(page: Page, kind: str) -> None:
    text = LONG[kind]
    more = text[len(text) // 2 :][:40]
    assert page.evaluate(CHANGES, [text[: len(text) // 2], more]) < 60


def test_long_code_is_coloured_when_its_parts_are_finished(page: Page) -> None:
    draw(page, "```js\nlet x\n```")
    expect(page.locator(".hljs-keyword")).to_be_visible()
    draw(page, LONG["code"], 97)
    plain = page.locator(".part:not(:has(.hljs-keyword))")
    expect(plain).to_have_count(0)
    assert page.locator(".part").count() > 2


def test_long_code_is_selected_as_it_was_written(page: Page) -> None:
    draw(page, LONG["code"])
    selected = page.evaluate("""() => {
      getSelection().selectAllChildren(document.querySelector('.prose code'));
      return getSelection().toString();
    }""")
    assert selected.strip() == LONG["code"].strip("`\n").removeprefix("python").strip()


@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```"])
def test_long_code_ends_with_its_fence(page: Page, fence: str) -> None:
    lines = "".join(f"x{n} = '```' + {n}\n" for n in range(200))
    draw(page, f"{fence}py\n{lines}{fence}\nAfter.", 97)
    expect(page.locator(".prose pre")).to_have_count(1)
    assert page.locator(".prose code").text_content() == lines
    expect(page.locator(".prose > .block").last).to_have_text("After.")


def test_long_code_without_an_end_is_coloured_too(page: Page) -> None:
    draw(page, "```js\nlet x\n```")
    expect(page.locator(".hljs-keyword")).to_be_visible()
    draw(page, "```js\n" + "let x = 1;\n" * 200, 97)
    expect(page.locator(".part:not(:has(.hljs-keyword))")).to_have_count(0)


def test_what_is_not_settled_is_not_shown(page: Page) -> None:
    cases = {
        "It is **very": "It is **very**",
        "It is **very *much": "It is **very *much***",
        "Call `f(": "Call `f(`",
        "So $x^": "So ",
        "So $5 and": "So $5 and",
        "So \\(x": "So ",
        "See [the page](https://a": "See ",
        "Text\n- ": "Text",
        "Text\n\n| a | b": "Text\n",
        "| a | b |\n|---|---|\n| 1": "| a | b |\n|---|---|\n| 1",
        "Text\n\n```py": "Text\n\n",
        "```py\nx = '**a": "```py\nx = '**a",
        "```py\nx\n``": "```py\nx\n",
        "snake_case and 5 * 3": "snake_case and 5 * 3",
    }
    results = page.evaluate(SETTLED, list(cases))
    assert dict(zip(cases, results, strict=True)) == cases


def test_tokens_of_one_frame_are_drawn_at_once(page: Page) -> None:
    writes = page.evaluate("""async () => {
      const { AnswerText } = await import('/static/js/answer.js');
      const prose = document.createElement('div');
      document.body.append(prose);
      const answer = new AnswerText(prose);
      let writes = 0;
      const observer = new MutationObserver(() => { writes += 1; });
      observer.observe(prose, { childList: true, subtree: true });
      for (let n = 0; n < 100; n += 1) answer.append('word ');
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      return writes;
    }""")
    assert writes == 1


def test_markers_in_code_and_maths_stay_text(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    text = "Far [1]. `a[1]` and $x_{[1]}$ and\n\n```js\nlet a = b[1];\n```\n"
    scripted.send("token", text=text[:7])
    scripted.send("citation", **citation(text[:7], 1))
    scripted.send("token", text=text[7:])
    scripted.done(text)
    expect(page.locator(".prose .cite")).to_have_count(1)
    expect(page.locator(".prose pre code")).to_contain_text("b[1]")
    expect(page.locator(".prose math")).to_be_visible()


def test_a_citation_keeps_the_focus_while_text_comes(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    scripted.send("token", text="Far [1]")
    scripted.send("citation", **citation("Far [1]", 1))
    page.locator(".cite").focus()
    scripted.send("token", text=" and further, **very** far")
    expect(page.locator(".prose strong")).to_have_text("very")
    expect(page.locator(".cite")).to_be_focused()


def test_what_is_not_supported_is_marked_without_a_jump(scripted: ScriptedSocket) -> None:
    page = ask(scripted)
    text = "Far [1]. Near [2]."
    for piece, index in ((text[:7], 1), (text[7:17], 2)):
        scripted.send("token", text=piece)
        scripted.send("citation", **citation(text[: 7 if index == 1 else 17], index))
    scripted.send("token", text=".")
    marks = page.locator(".cite")
    expect(marks).to_have_count(2)
    before = [mark.bounding_box() for mark in marks.all()]
    found = {"page": 3, "quote": "It was near.", "place": None, "score": 0.1, "source_id": "1"}
    supports = [
        {"citation": 0, "support": "supported", **found},
        {"citation": 1, "support": "unsupported", **found},
    ]
    scripted.send("grounding", verdict="partly", sentences=[], citations=supports, uncited=0)
    expect(marks.nth(1)).to_have_attribute("data-support", "unsupported")
    expect(marks.nth(1)).to_have_accessible_name(
        "Source 2: Lighthouses, page 3. Not supported by the source"
    )
    expect(marks.nth(1)).to_have_css("outline-style", "dashed")
    assert [mark.bounding_box() for mark in marks.all()] == before
    marks.nth(1).hover()
    expect(page.locator("#card")).to_contain_text("Not supported by the source")
    expect(page.locator("#card")).to_contain_text("It was near.")
