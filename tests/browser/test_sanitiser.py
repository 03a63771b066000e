"""An answer's text becomes elements that do nothing but show it, whatever is in it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewPage, until
from tests.browser.hostile import CORPUS, LONG

MATHS = {
    "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow",
    "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr",
    "munder", "munderover", "semantics",
}  # fmt: skip
MATHS_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display",
    "displaystyle", "fence", "height", "linethickness", "lspace", "mathvariant", "maxsize",
    "minsize", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator",
    "stretchy", "symmetric", "voffset", "width",
}  # fmt: skip
TAGS = MATHS | {
    "a", "b", "blockquote", "br", "button", "code", "del", "div", "em", "h3", "h4", "h5", "h6",
    "hr", "i", "kbd", "li", "mark", "ol", "p", "pre", "s", "span", "strong", "sub", "sup",
    "table", "tbody", "td", "th", "thead", "tr", "u", "ul",
}  # fmt: skip
# Of these elements these attributes, and of none any other.
ATTRIBUTES = {
    "a": {
        "href": r"^(https?:\/\/|mailto:)", "rel": "^noopener noreferrer nofollow$",
        "target": "^_blank$", "title": "",
    },
    "code": {"class": r"^language-[\w+#.-]+$"},
    "div": {
        "class": "^(block|table-scroll|code|code-head)$", "tabindex": "^0$", "role": "^group$",
    },
    "pre": {"tabindex": "^0$"},
    # The only button copies its own block.
    "button": {"class": "^code-copy$", "type": "^button$"},
    "span": {
        "class": r"^(link-target|cited|part|task|math( display)?( source)?"
        r"|hljs-[a-z_-]+( [a-z]+_+)*)$",
        "role": "^img$", "aria-label": "^(Done|Not done)$",
    },
    "ol": {"start": r"^\d+$"},
    "td": {"align": "^(left|right|center)$"},
    "th": {"align": "^(left|right|center)$"},
}  # fmt: skip

RENDER = """async ([cases, step]) => {
  const { AnswerText } = await import('/static/js/answer.js');
  const drawn = (text, pieces) => {
    const prose = document.createElement('div');
    document.body.append(prose);
    const answer = new AnswerText(prose);
    if (pieces) {
      for (let at = 0; at < text.length; at += pieces) {
        answer.append(text.slice(at, at + pieces));
        answer.draw();
      }
    } else answer.replace(text, []);
    answer.finish();
    return prose;
  };
  return cases.map((text) => {
    const began = performance.now();
    const prose = drawn(text, 0);
    const took = performance.now() - began;
    const elements = [...prose.querySelectorAll('*')].map((element) => [
      element.localName,
      Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
    ]);
    const same = !step || drawn(text, step).innerHTML === prose.innerHTML;
    return { text, elements, same, took, shown: prose.textContent };
  });
}"""


@pytest.fixture
def asked(page: Page) -> list[str]:
    """Return the addresses that the page asks for."""
    requests: list[str] = []
    page.context.on("request", lambda request: requests.append(request.url))
    return requests


# Maths and colours are drawn at once when their libraries are there.
LOAD = """async () => {
  const { AnswerText } = await import('/static/js/answer.js');
  const prose = document.createElement('div');
  document.body.append(prose);
  const answer = new AnswerText(prose);
  answer.replace('$x$\\n\\n```js\\nlet x\\n```', []);
  answer.finish();
}"""


@pytest.fixture
def page(new_page: NewPage) -> Page:
    """Return a page of the site on which answers can be drawn, with all that takes loaded."""
    page = new_page()
    page.goto("/accounts/login/")
    page.evaluate(LOAD)
    until(page, "document.querySelector('math') && document.querySelector('.hljs-keyword')")
    return page


def wrong(element: str, attributes: dict[str, str]) -> str:
    """Return what an element has or is that no answer needs; "" if all is well."""
    if element not in TAGS:
        return f"<{element}>"
    known = dict.fromkeys(MATHS_ATTRIBUTES, "") if element in MATHS else ATTRIBUTES.get(element, {})
    for name, value in attributes.items():
        if name not in known or not re.search(known[name], value):
            return f"<{element} {name}={value!r}>"
    return ""


def test_nothing_of_the_corpus_acts_or_asks_for_anything(page: Page, asked: list[str]) -> None:
    """Streamed, and as it is after a reload, which look the same."""
    results: list[dict[str, Any]] = page.evaluate(RENDER, [CORPUS, 3])
    page.wait_for_load_state("networkidle")
    found = [
        (result["text"], problem)
        for result in results
        for element, attributes in result["elements"]
        if (problem := wrong(element, attributes))
    ]
    assert found == []
    assert [result["text"] for result in results if not result["same"]] == []
    assert page.evaluate("window.hacked") is None
    assert [address for address in asked if "/static/" not in address] == []
    assert page.url.endswith("/accounts/login/")
    assert page.evaluate("document.styleSheets.length") == page.evaluate(
        "document.querySelectorAll('link[rel=stylesheet]').length"
    )


def test_where_a_link_leads_is_seen_before_it_is_opened(page: Page) -> None:
    cases = {
        "[https://bank.example](https://evil.example/bank)": "evil.example/bank",
        "[x](https://bank.example:password@evil.example/)": "(evil.example)",
        "[x](https://evil.example/?d=the%20secret#more)": "evil.example/?d=the%20secret#more",
        "[x](mailto:me@evil.example?body=secret)": "me@evil.example?body=secret",
        "https://b\u0430nk.example/": "xn--bnk-",
        "[bank](https://b\u0430nk.example/)": "xn--bnk-",
        "[](https://evil.example/?q=secret)": "evil.example/?q=secret",
        "https://evil.example/?d=secret": "https://evil.example/?d=secret",
    }
    results = page.evaluate(RENDER, [list(cases), 0])
    assert [r["text"] for r in results if cases[r["text"]] not in r["shown"]] == []
    plain = page.evaluate(RENDER, [["https://a.example/x"], 0])[0]
    assert plain["shown"].strip() == "https://a.example/x"


def test_what_turns_text_round_or_hides_in_it_is_left_out(page: Page) -> None:
    hidden = "a\u202eb\u2066c\u200bd\ufeffe\U000e0041f `g\u202eh`"
    assert page.evaluate(RENDER, [[hidden], 1])[0]["shown"].strip() == "abcdef gh"


def test_markers_within_links_are_no_buttons_and_no_addresses(page: Page) -> None:
    results = page.evaluate(RENDER, [["[[1]](https://a.example) and [1](https://a.example)"], 0])
    assert [name for name, _ in results[0]["elements"] if name == "button"] == []


def test_long_and_deep_texts_are_drawn_in_bounded_time(page: Page) -> None:
    results = page.evaluate(RENDER, [list(LONG.values()), 0])
    took = {name: round(r["took"]) for name, r in zip(LONG, results, strict=True)}
    assert {name: ms for name, ms in took.items() if ms > 5_000} == {}
    # Nothing is lost of what cannot be read as markdown.
    assert results[list(LONG).index("one word")]["shown"] == LONG["one word"]
