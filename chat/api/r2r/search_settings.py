"""R2R's search settings as ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chat.api.r2r import filters
from retrieval.search import SearchSettingsError
from retrieval.search.filter_values import FilterError

MODES = ("basic", "advanced", "custom")
STRATEGIES = {"query_fusion": "rag_fusion"}
SWITCHES = ("use_semantic_search", "use_fulltext_search", "use_hybrid_search")
# What R2R knows beside, of graphs and of how its results are put.
NOT_OURS = ("graph_settings", "include_scores", "include_metadatas", "search_filters", *SWITCHES)


@dataclass(frozen=True)
class Wanted:
    """What is searched for, as `SearchSettings.parse` takes it, and what is said of each result."""

    settings: dict[str, Any] = field(default_factory=dict)
    scores: bool = True
    metadatas: bool = True


def translated(mode: object, given: object) -> Wanted:
    """Return the settings of a search, those that are given over those of its mode.

    What is not given is left to the assistant. Raises SearchSettingsError that names the field.
    """
    said = _object("search_settings", given)
    settings = {name: value for name, value in said.items() if name not in NOT_OURS}
    if mode not in (None, *MODES):
        raise SearchSettingsError("search_mode", f"is one of {', '.join(MODES)}")
    if mode in ("basic", "advanced"):
        settings["search_mode"] = mode
    settings |= _switches(said)
    if conditions := _filters(said):
        settings["filters"] = conditions
    if strategy := STRATEGIES.get(str(said.get("search_strategy"))):
        settings["search_strategy"] = strategy
    if "hybrid_settings" in settings:
        settings["hybrid_settings"] = _hybrid(settings["hybrid_settings"])
    if "chunk_settings" in settings:
        settings["chunk_settings"] = _chunk(settings["chunk_settings"])
    return Wanted(
        settings,
        scores=said.get("include_scores") is not False,
        metadatas=said.get("include_metadatas") is not False,
    )


def _object(name: str, value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise SearchSettingsError(name, "must be an object")
    return value


def _switches(said: dict[str, Any]) -> dict[str, Any]:
    """Return which searches are done: hybrid is both, whatever else is said of them."""
    semantic, full_text, hybrid = (said.get(name) for name in SWITCHES)
    if hybrid is True:
        return dict.fromkeys(SWITCHES, True)
    given = {name: said[name] for name in SWITCHES[:2] if said.get(name) is not None}
    if hybrid is not None and semantic is None and full_text is None:
        given["use_hybrid_search"] = hybrid
    return given


def _filters(said: dict[str, Any]) -> object:
    both = [each for name in ("filters", "search_filters") if (each := said.get(name))]
    try:
        found = [filters.translated(each) for each in both]
    except FilterError as error:
        raise SearchSettingsError(".".join(("filters", *error.path)), str(error)) from error
    return {"$and": found} if len(found) > 1 else found[0] if found else None


def _hybrid(given: object) -> dict[str, Any]:
    """Return how two searches become one; who gives the constant of RRF means RRF."""
    said = _object("hybrid_settings", given)
    return {"fusion": "rrf"} | said if "rrf_k" in said else said


def _chunk(given: object) -> dict[str, Any]:
    said = _object("chunk_settings", given)
    if said.get("enabled") is False:
        raise SearchSettingsError(
            "chunk_settings.enabled", "must be on: there is nothing else to search here"
        )
    return {
        name: value for name, value in said.items() if name not in ("enabled", "include_metadata")
    }
