"""The screens of the tour: where each is, and what is done before its picture is taken."""

# ruff: noqa: INP001 - a folder of pages

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

QUESTION = "How much leave do new parents get, and what if I fall ill?"
# Each `{…}` becomes the number of the passage that holds those words.
ANSWER = """New parents, adoptive parents included, get **16 weeks** of parental leave at full \
pay [{16 weeks}]. It can be divided into as many as three blocks, and must be taken within the \
child's first two years [{16 weeks}].

If you fall ill:

1. Report to your team lead before 09:00 on the first day [{before 09:00}].
2. Hand in a medical certificate from the third day on [{before 09:00}].

| Leave | Length | Pay |
|---|---|---|
| Annual | 28 days | full |
| Parental | 16 weeks | full |
| Sick | six weeks a year | full |

Every five years of service add a day of annual leave, up to 33 days [{up to a maximum of 33}].
"""


def nothing(page: Page) -> None:
    """Take the page as it opens."""


@dataclass(frozen=True)
class Screen:
    """A screen: its picture's name, what it is, its address, and how it comes about there."""

    name: str
    title: str
    text: str
    address: str
    prepare: Callable[[Page], None] = nothing
    signed_in: bool = True


def begin_answer(page: Page) -> None:
    """Ask, and wait for the first words; the provider holds back the rest."""
    page.get_by_label("Your question").fill("What may a hotel in Graz cost?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer .prose")).to_contain_text("hotel")


def open_card(page: Page) -> None:
    """Show what a citation says."""
    page.locator(".cite").first.focus()
    expect(page.locator("#card")).to_be_visible()


def open_source(page: Page) -> None:
    """Open the source of a citation."""
    page.locator(".cite").first.click()
    expect(page.locator("#panel [data-state='shown'], #panel mark").first).to_be_visible()


def open_choice(page: Page) -> None:
    """Show who can be asked, and what can be searched."""
    page.locator("#choice summary").click()


def open_menu(page: Page) -> None:
    """Show the person's menu, in the sheet where the sidebar is one."""
    opener = page.get_by_role("button", name="Show conversations")
    if opener.is_visible():
        opener.click()
    page.locator(".person").click()
    expect(page.locator("#person-menu")).to_be_visible()


def fail_to_sign_in(page: Page) -> None:
    """Try a wrong password."""
    page.get_by_label("Username or e-mail").fill("mira")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_be_visible()


ADMIN = "/admin/retrieval/document"
# `{…}` in an address is filled in with what the site holds.
SCREENS = [
    Screen("sign-in", "Signing in", "By password, passkey, or the organisation's own accounts.",
           "/accounts/login/", signed_in=False),
    Screen("sign-in-failed", "A wrong password", "What went wrong, and how to go on.",
           "/accounts/login/", fail_to_sign_in, signed_in=False),
    Screen("new", "A new conversation", "Questions to begin with, and where answers come from.",
           "/"),
    Screen("choice", "Who is asked", "An assistant, and the collections that are searched.",
           "/", open_choice),
    Screen("answering", "While an answer comes", "Stop takes the place of send.",
           "/", begin_answer),
    Screen("answer", "An answer", "Each statement with the passage it rests on; the sources below.",
           "{conversation}"),
    Screen("citation", "A citation", "The sentence that supports the statement, on hover or focus.",
           "{conversation}", open_card),
    Screen("source", "The source beside it", "The real page, with the passage marked.",
           "{conversation}", open_source),
    Screen("menu", "The sidebar and the menu", "Conversations by day; theme, account, sign out.",
           "{conversation}", open_menu),
    Screen("account", "The account", "What there is to look after.", "/accounts/"),
    Screen("two-factor", "Second factors", "An app, passkeys, recovery codes.", "/accounts/2fa/"),
    Screen("sessions", "Sessions", "Where one is signed in.", "/accounts/sessions/"),
    Screen("tokens", "API tokens", "For programs, with what each may do.", "/accounts/tokens/"),
    Screen("usage", "Usage", "What was used today, and how much there is.", "/accounts/usage/"),
    Screen("own-data", "One's own data", "To take along, or to erase.", "/accounts/data/"),
    Screen("admin", "The administration", "Django's own, its look kept.", "/admin/"),
    Screen("upload", "Uploading", "Files, folders, or addresses.", f"{ADMIN}/upload/"),
    Screen("documents", "Documents", "Each with what became of it.", f"{ADMIN}/"),
    Screen("document", "A document", "Its text, its chunks, its versions.", "{document}"),
    Screen("queue", "The queue", "What is worked on, waits, or failed.", f"{ADMIN}/queue/"),
    Screen("conversations", "Conversations", "As staff review them.", "/admin/chat/conversation/"),
    Screen("review", "A conversation reviewed", "The chat beside what was found, and why.",
           "{review}"),
    Screen("assistant", "An assistant", "Its prompt, collections and settings, to be tried.",
           "{assistant}"),
    Screen("limits", "Use of limits", "Who used how much today.", "/admin/limits/limit/use/"),
    Screen("audit", "The audit log", "Who did what, and when.", "/admin/audit/auditevent/"),
]  # fmt: skip
