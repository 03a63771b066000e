"""What the staff's page of a conversation needs to say about runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chat.models import Candidate, Run

register = template.Library()

# The stages of a search in their order; what a later version adds comes behind.
STAGES = ("vector", "fulltext", "fused", "reranked")

WRITTEN = {
    "question": "Searched for",
    "queries": "Other wordings searched for",
    "passages": "Imagined passages searched for",
}


@register.filter
def score_stages(run: Run) -> list[str]:
    """Return the stages that scored any candidate of a run, in order."""
    found = {stage for candidate in run.candidates.all() for stage in candidate.scores}
    return [*(stage for stage in STAGES if stage in found), *sorted(found.difference(STAGES))]


@register.filter
def score(candidate: Candidate, stage: str) -> float | None:
    """Return a candidate's score at a stage."""
    value: float | None = candidate.scores.get(stage)
    return value


@register.filter
def written_label(kind: str) -> str:
    """Return what people call a kind of text that was searched for in place of the question."""
    return WRITTEN.get(kind, kind)


@register.filter
def named(values: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return timings or usage with names for people: `first_token_ms` is "first token"."""
    return [(key.removesuffix("_ms").replace("_", " "), value) for key, value in values.items()]
