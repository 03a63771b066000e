"""Every page under its Content Security Policy: what the policy stops, the console tells."""

from __future__ import annotations

import re
from pathlib import Path
from uuid import UUID

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile
from playwright.sync_api import BrowserContext, Error, expect

from retrieval.models import DocumentVersion
from tests import conversations
from tests.browser.addresses import of_objects, pages
from tests.browser.conftest import WHOLE_CHROMIUM, NewPage, until

HANDBOOK = Path(__file__).parents[2] / "retrieval" / "samples" / "employee-handbook.pdf"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "000002000001e221bc330000000049454e44ae426082"
)


def visit(context: BrowserContext, address: str, errors: list[str]) -> None:
    """Open a page in a new tab; what it answers, say 403 or a file, is not asked here."""
    page = context.new_page()
    page.on("console", lambda said: errors.append(said.text))
    try:
        page.goto(address)
    except Error as error:
        if not re.search("Download is starting|ERR_ABORTED|ERR_HTTP_RESPONSE_CODE", str(error)):
            raise
    else:
        # The console is read in order, so nothing is left to be said of this page.
        page.evaluate("() => new Promise((done) => setTimeout(done))")
    page.close()
    errors[:] = [said for said in errors if "Policy" in said]
    assert not errors, f"{address}: {errors}"


@pytest.fixture
def without_icon(forgiven: list[str]) -> None:
    """Let browsers look for the icon of what is no page of ours."""
    forgiven.append("/favicon.ico")


@pytest.fixture
def everything(ada: User) -> UUID:
    """Make something of every kind there is; return an answer's message."""
    run = conversations.answered(ada)
    return run.answer_id


def test_no_page_needs_what_the_policy_forbids(
    new_page: NewPage, ada: User, everything: UUID, errors: list[str]
) -> None:
    context = new_page(ada).context
    assert "/admin/retrieval/document/upload/" in pages()
    for address in [*pages(), *of_objects(), f"/messages/{everything}/sources/"]:
        visit(context, address, errors)
    stranger = new_page().context
    for address in ("/accounts/login/", "/admin/login/", "/none/", "/accounts/logout/"):
        visit(stranger, address, errors)


def test_the_administrations_widgets_work(new_page: NewPage, ada: User) -> None:
    Group.objects.create(name="Gardeners")
    page = new_page(ada)
    page.goto(f"/admin/auth/user/{ada.pk}/change/")
    page.locator(".datetimeshortcuts").first.get_by_role("link", name="Today").click()
    page.locator(".datetimeshortcuts a:has(.date-icon)").first.click()
    expect(page.locator(".calendarbox").first).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#id_groups_from option", has_text="Gardeners").dblclick()
    expect(page.locator("#id_groups_to option")).to_have_text("Gardeners")
    with page.expect_popup() as opened:
        page.locator("#add_id_groups").click()
    expect(opened.value.get_by_label("Name")).to_be_visible()


def uploaded(kind: str, content: bytes) -> str:
    """Store a file, and return its address."""
    version = conversations.document()
    version.file.save("file", ContentFile(content))
    DocumentVersion.objects.filter(pk=version.pk).update(media_type=kind, size=len(content))
    return f"/files/{version.pk}/"


@pytest.mark.usefixtures("without_icon")
def test_a_text_is_shown_with_its_long_lines_wrapped(new_page: NewPage, ada: User) -> None:
    page = new_page(ada)
    page.goto(uploaded("text/plain", b"A line that is wider than any window. " * 50))
    expect(page.locator("pre")).to_contain_text("wider than any window")
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.usefixtures("without_icon")
def test_a_picture_is_shown(new_page: NewPage, ada: User, errors: list[str]) -> None:
    page = new_page(ada)
    page.goto(uploaded("image/png", PNG))
    until(page, "document.images[0]?.naturalWidth === 1")
    # The style that Chromium gives every picture is refused, so it stands in the corner.
    errors[:] = [said for said in errors if "inline style" not in said]


@pytest.mark.usefixtures("without_icon")
@pytest.mark.parametrize("browser", [WHOLE_CHROMIUM], ids=["whole"], indirect=True)
def test_a_pdf_is_shown(new_page: NewPage, ada: User) -> None:
    page = new_page(ada)
    page.goto(uploaded("application/pdf", HANDBOOK.read_bytes()))
    until(page, "document.documentElement.outerHTML.includes('rgb(40,40,40)')")


@pytest.mark.usefixtures("without_icon")
def test_a_page_that_was_uploaded_is_not_opened(new_page: NewPage, ada: User) -> None:
    page = new_page(ada)
    address = uploaded("text/html", b"<script>window.opener = 1</script>")
    page.goto("/")
    with page.expect_download():
        page.evaluate("(address) => { location.href = address }", address)
