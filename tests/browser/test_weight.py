"""How much of the site a browser has to fetch before a question can be asked."""

from __future__ import annotations

import gzip

from django.contrib.auth.models import User
from playwright.sync_api import Response

from tests.browser.conftest import NewPage

MOST_BYTES = 150 * 1024
LATER = ("/katex/", "/highlight/", "/pdfjs-dist/")


def test_the_first_load_is_light_and_brings_no_library_that_may_not_be_needed(
    new_page: NewPage, ada: User
) -> None:
    page = new_page(ada)
    responses: list[Response] = []

    def came(response: Response) -> None:
        responses.append(response)

    page.on("response", came)
    page.goto("/")
    page.wait_for_load_state("networkidle")
    weights = {each.url: len(gzip.compress(each.body())) for each in responses}
    assert any("/js/chat" in url for url in weights)
    assert [url for url in weights if any(part in url for part in LATER)] == []
    assert sum(weights.values()) <= MOST_BYTES, sorted(weights.items(), key=lambda w: -w[1])
