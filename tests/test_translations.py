"""Every text of the pages and of their scripts goes through gettext."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Its tag's own name depends: to the parser all of it is text.
NO_TEXT = ROOT / "templates/allauth/elements/button.html"
TEMPLATES = sorted({*(ROOT / "templates").rglob("*.html")} - {NO_TEXT})
# What is said to people by attributes.
SAID = {"alt", "aria-label", "placeholder", "title", "aria-description", "data-label"}
# What is called the same in every language.
NAMES = {"ragsite", "openapi", "json"}
# A translated text, or what stands for none.
TRANSLATED = re.compile(
    r"{%\s*blocktrans(?:late)?\b.*?{%\s*endblocktrans(?:late)?\s*%}|{%\s*comment.*?endcomment\s*%}"
    r"|{#.*?#}|{{.*?}}|{%.*?%}",
    re.DOTALL,
)
WORD = re.compile(r"[^\W\d_]{2,}")
# Behind a tag or a variable there may be a text in quotes.
LITERAL = re.compile(r"""\|default(?:_if_none)?:(["'])(?P<text>[A-Z][^"']*)\1""")


class Texts(HTMLParser):
    """Collects what people read of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in ("code", "script", "style")
        said = SAID | {"value"} if ("type", "submit") in attrs and tag == "input" else SAID
        self.found += [value for name, value in attrs if name in said and value]

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("code", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.found.append(data)


def untranslated(source: str) -> Iterator[str]:
    """Yield the texts of a template that are the same in every language."""
    yield from (match["text"] for match in LITERAL.finditer(source) if WORD.search(match["text"]))
    texts = Texts()
    texts.feed(TRANSLATED.sub(" ", source))
    texts.close()
    for text in texts.found:
        if set(WORD.findall(text)) - NAMES:
            yield " ".join(text.split())


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>Hello there</p>", ["Hello there"]),
        ('<a title="Hello" href="/x">{{ name }}</a>', ["Hello"]),
        ('<input type="submit" value="Send">', ["Send"]),
        ('{{ name|default:"None" }}', ["None"]),
        (
            '<p>{% translate "Hi" %} {% blocktranslate %}Dear {{ n }}{% endblocktranslate %}</p>',
            [],
        ),
        ("<p>ragsite · {{ number }} × <code>REWRITE</code></p>", []),
    ],
)
def test_texts_are_told_from_what_is_none(source: str, found: list[str]) -> None:
    assert [*untranslated(source)] == found


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_template_says_nothing_untranslated(path: Path) -> None:
    assert [*untranslated(path.read_text())] == []
