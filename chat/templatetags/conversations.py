"""What the chat's templates need to say about conversations and answers."""

from __future__ import annotations

import json
from datetime import date, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext

from chat import evidence, late_grounding, sidebar, ways_on
from chat.feedback import own_feedback
from chat.models import ACTIVE, Conversation, Message, Run, RunState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.utils.safestring import SafeString

register = template.Library()
# Passages that are shown where the documents do not answer.
RELATED = 3


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw an icon of the page's sprite; its meaning is said by the text beside it."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="#icon-{}"></use></svg>', name
    )


@register.filter
def by_period(conversations: Iterable[Conversation]) -> list[tuple[str, list[Conversation]]]:
    """Group conversations, newest first, into Today, Yesterday, Last 7 days and months."""
    today = timezone.localdate()
    groups = groupby(conversations, lambda one: period(timezone.localdate(one.updated_at), today))
    return [(name, list(group)) for name, group in groups]


def period(day: date, today: date) -> str:
    """Name the time in which `day` lies, as seen from `today`."""
    if day >= today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    if day > today - timedelta(days=7):
        return gettext("Last 7 days")
    return date_format(day, "F" if day.year == today.year else "F Y")


@register.filter
def answer_state(message: Message | None) -> str:
    """Return an answer's state as the page's scripts name it; None is one about to begin."""
    if not message:
        return "searching"
    run: Run | None = getattr(message, "run", None)
    if run is None:
        return "done"
    if run.state in ACTIVE:
        return "searching"
    if run.state == RunState.COMPLETED:
        return run.finish_reason if run.finish_reason in ("no_answer", "length") else "done"
    return run.state


@register.filter
def citation_data(message: Message) -> list[dict[str, Any]]:
    """Return an answer's citations as its frames carried them, for the page's renderer."""
    return [
        {
            "index": citation.index,
            "title": citation.title,
            "page": citation.page,
            "quote": citation.quote,
            "place": citation.place,
            "span": [citation.span_start, citation.span_end],
            "support": citation.support or None,
        }
        for citation in message.citations.all()
    ]


register.filter(evidence.cited)
register.filter("is_checking", late_grounding.may_come)


@register.filter
def page_list(pages: Sequence[int]) -> str:
    """Name the pages of a passage."""
    named = ngettext("p. %(pages)s", "pp. %(pages)s", len(pages))
    return named % {"pages": ", ".join(map(str, pages))}


@register.inclusion_tag("chat/_source_list.html")
def source_list(message: Message) -> dict[str, Any]:
    """List the sources of an answer: the cited first, then what else was found, folded."""
    cited, others = evidence.sources(message)
    related = []
    if not cited and answer_state(message) == "no_answer":
        near = (
            each for each in others[:RELATED] if each.relevance is None or each.relevance > 0.01
        )
        related = list(near)
        others = others[len(related) :]
    return {"message": message, "cited": cited, "related": related, "others": others}


@register.inclusion_tag("chat/_feedback.html")
def feedback_of(message: Message) -> dict[str, Any]:
    """Show what the reader said of an answer, and let them say it."""
    return {"message": message, "feedback": own_feedback(message)}


@register.filter
def may_be_titled(conversation: Conversation) -> bool:
    """Whether the generator may be about to give a conversation its title."""
    return sidebar.may_be_titled(conversation)


@register.filter
def way_on(code: str) -> str:
    """Return what the page offers beside an error of this code."""
    return ways_on.way_on(code)


@register.filter(name="json")
def as_json(value: object) -> str:
    """Return a value as JSON, for an attribute that a script reads."""
    return json.dumps(value, ensure_ascii=False)
