"""The screens of the tour that people see: where each is, and what is done before its picture."""

# ruff: noqa: INP001 - a folder of pages

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from docs.tour_answers import HOTEL, REMOTE

PASSWORD = "rivers under seven lanterns"  # noqa: S105 - of a site that lives some minutes


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


def ask(page: Page, question: str) -> None:
    """Ask as people do."""
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def wait(page: Page) -> None:
    """Ask, and see what was found; the provider has not begun."""
    ask(page, REMOTE.question)
    expect(page.locator(".answer .status-text")).to_contain_text("passage")


def begin_answer(page: Page) -> None:
    """Ask, and wait for the first words; the provider holds back the rest."""
    ask(page, HOTEL.question)
    expect(page.locator(".answer .prose")).to_contain_text("daily allowance")


def lose_connection(page: Page) -> None:
    """Be away for more than a moment while an answer comes."""
    begin_answer(page)
    page.context.set_offline(True)
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    expect(page.locator(".connection")).to_be_visible(timeout=20_000)


def open_card(page: Page) -> None:
    """Show what a citation says: on hover, or where the keyboard is."""
    page.keyboard.press("Shift+Tab")
    page.locator(".cite").first.focus()
    expect(page.locator("#card")).to_be_visible()


def from_the_top(page: Page) -> None:
    """Read an answer from its beginning."""
    page.locator("#messages").evaluate("element => element.scrollTo(0, 0)")


def open_source(page: Page) -> None:
    """Open the source of a citation."""
    page.locator(".cite").first.click()
    expect(page.locator("#panel [data-state='shown'], #panel mark").first).to_be_visible()


def open_found(page: Page) -> None:
    """Unfold what else was found."""
    page.locator(".sources summary").click()
    page.locator(".sources").scroll_into_view_if_needed()


def open_choice(page: Page) -> None:
    """Show who can be asked, and what can be searched."""
    page.locator("#choice summary").click()


def open_sidebar(page: Page) -> None:
    """Show the conversations, which are a sheet on a phone."""
    opener = page.get_by_role("button", name="Show conversations")
    if opener.is_visible():
        opener.click()


def open_menu(page: Page) -> None:
    """Show the person's menu."""
    open_sidebar(page)
    page.locator(".person").click()
    expect(page.locator("#person-menu")).to_be_visible()


def press(page: Page, button: str) -> None:
    """Press a button by the keyboard: it is to be seen only where one points or stands."""
    page.get_by_role("button", name=button).focus()
    page.keyboard.press("Enter")


def rename(page: Page) -> None:
    """Pin a conversation, and begin to rename another."""
    open_sidebar(page)
    press(page, "Pin Notice periods after probation")
    expect(page.get_by_role("heading", name="Pinned")).to_be_visible()
    press(page, "Rename Tightening torque of the pedals")
    expect(page.get_by_label("New name")).to_be_focused()


def delete(page: Page) -> None:
    """Delete a conversation; it can be brought back."""
    open_sidebar(page)
    press(page, "Delete Hotel limits in the Netherlands")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def complain(page: Page) -> None:
    """Say that an answer did not help."""
    page.get_by_role("button", name="Not helpful").click()
    expect(page.locator(".feedback-form")).to_be_visible()
    page.get_by_label("It is incomplete").check(force=True)
    page.locator(".feedback-form").scroll_into_view_if_needed()


def confirm(page: Page) -> None:
    """Say again who it is, where that is asked."""
    password = page.get_by_label("Password")
    if password.is_visible():
        password.fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(password).to_be_hidden()


def fail_to_sign_in(page: Page) -> None:
    """Try a wrong password."""
    page.get_by_label("Username or e-mail").fill("mira")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_be_visible()


CHAT = [
    Screen("new", "A new conversation", "Questions to begin with, and what is searched.", "/"),
    Screen("choice", "Who is asked", "An assistant, and the collections that are searched.",
           "/", open_choice),
    Screen("waiting", "While one waits", "What was found; gone when the answer comes.", "/", wait),
    Screen("answering", "While an answer comes", "Stop takes the place of send.",
           "/", begin_answer),
    Screen("answer", "An answer", "Each statement with the passage it rests on.",
           "{leave}", from_the_top),
    Screen("rich", "Tables, code and maths", "As markdown and LaTeX say them.",
           "{ratio}", from_the_top),
    Screen("right-to-left", "An answer from right to left", "As its language is written.",
           "{arabic}", from_the_top),
    Screen("citation", "A citation", "The sentence that supports the statement, on hover or focus.",
           "{leave}", open_card),
    Screen("unsupported", "A citation that does not support", "The source has another number.",
           "{descaling}", open_card),
    Screen("source", "The source beside it", "The real page, with the passage marked.",
           "{leave}", open_source),
    Screen("source-text", "A source without pages", "Its text, the sentence marked.",
           "{ratio}", open_source),
    Screen("sources", "The sources of an answer", "What is cited first, then what else was found.",
           "{leave}", open_found),
    Screen("stopped", "Stopped", "What came stays; go on from there, or ask anew.", "{hotel}"),
    Screen("failed", "An error", "What happened, in words, and one way on.", "{cartridge}"),
    Screen("not-found", "No answer in the documents", "And what may be related all the same.",
           "{nobody}"),
    Screen("feedback", "What one thinks of it", "With a reason and a comment, if one likes.",
           "{leave}", complain),
    Screen("reconnecting", "The connection lost", "The answer goes on meanwhile.",
           "/", lose_connection),
    Screen("menu", "The sidebar and the menu", "Conversations by day; theme, account, sign out.",
           "{leave}", open_menu),
    Screen("rename", "Pinned and renamed", "In their place.", "{leave}", rename),
    Screen("deleted", "Deleted", "With a way back.", "{leave}", delete),
    Screen("guest", "Without an account", "Where an assistant is public.", "/", signed_in=False),
]  # fmt: skip
ACCOUNTS = [
    Screen("sign-in", "Signing in", "By password, passkey, or the organisation's own accounts.",
           "/accounts/login/", signed_in=False),
    Screen("sign-in-failed", "A wrong password", "What went wrong, and how to go on.",
           "/accounts/login/", fail_to_sign_in, signed_in=False),
    Screen("sign-up", "Making an account", "Where the site allows it.",
           "/accounts/signup/", signed_in=False),
    Screen("account", "The account", "What there is to look after.", "/accounts/"),
    Screen("two-factor", "Second factors", "An app, passkeys, recovery codes.", "/accounts/2fa/"),
    Screen("authenticator", "An authenticator app", "Set up by a code to be scanned.",
           "/accounts/2fa/totp/activate/", confirm),
    Screen("sessions", "Sessions", "Where one is signed in.", "/accounts/sessions/"),
    Screen("tokens", "API tokens", "For programs, with what each may do.", "/accounts/tokens/"),
    Screen("token", "A new token", "As much as it needs, and as long.",
           "/accounts/tokens/new/", confirm),
    Screen("usage", "Usage", "What was used today, and how much there is.", "/accounts/usage/"),
    Screen("own-data", "One's own data", "To take along, or to erase.", "/accounts/data/"),
]  # fmt: skip
