"""axe-core in a page: what of WCAG 2.2 AA the page violates."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page

AXE = (Path(__file__).parents[1] / "data" / "axe-core" / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# What may differ between light and dark.
COLOURS = ["color-contrast", "link-in-text-block"]
RUN = """(rules) => axe.run(document, {runOnly: rules, resultTypes: ["violations"]})
  .then((found) => found.violations)"""


def violations(page: Page) -> list[str]:
    """Return what the page violates in light and in dark, one line a rule and element."""
    page.evaluate(AXE)
    found = look(page, "light", RULES) + look(page, "dark", COLOURS)
    page.emulate_media(color_scheme="light")
    return found


def look(page: Page, scheme: Literal["light", "dark"], rules: list[str]) -> list[str]:
    """Return what the page violates in a colour scheme of some rules, or rules of some tags."""
    # Nothing is on its way from one colour to the other.
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    found: list[dict[str, Any]] = page.evaluate(RUN, rules)
    return [
        f"{scheme}: {rule['id']}: {node['html'][:160]}: {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]
