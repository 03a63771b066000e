"""What the pages of an account need to say about browsers."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext

register = template.Library()

# In this order: most browsers name those they descend from, too.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "Firefox/": "Firefox",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


@register.filter
def browser(user_agent: str) -> str:
    """Name the browser and the system that a user agent stands for, as far as can be told."""
    name = next((name for mark, name in BROWSERS.items() if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS.items() if mark in user_agent), "")
    if name and system:
        return gettext("%(browser)s on %(system)s") % {"browser": name, "system": system}
    return name or system or user_agent.split("/", maxsplit=1)[0][:40] or gettext("Unknown program")
