"""What has changed between two versions of an assistant, and bringing one back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import ndiff
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from django.db import transaction
from django.utils.translation import gettext

from chat.models import Assistant, AssistantVersion
from chat.models.assistants import CONFIGURATION
from retrieval.backends.generation import GenerationSettings, GenerationSettingsError
from retrieval.models import Collection
from retrieval.search import SearchSettings, SearchSettingsError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LABELS = {
    "instructions": "Instructions",
    "collections": "Collections",
    "search_settings": "Search settings",
    "rewrites": "Rewrites questions",
    "model": "Model",
    "generation": "Parameters of the model",
    "answers_without_sources": "May answer without sources",
}


class VersionError(Exception):
    """A version that cannot be brought back; `message` is for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Line(NamedTuple):
    """A line of a setting, and whether it is in both versions or in one of them."""

    kind: Literal["same", "removed", "added"]
    text: str


class Difference(NamedTuple):
    """A setting that two versions have differently."""

    label: str
    lines: Sequence[Line]


def differences(old: AssistantVersion, new: AssistantVersion) -> list[Difference]:
    """Return what `new` has otherwise than `old`, setting by setting."""
    chosen = {*old.configuration.get("collections", ()), *new.configuration.get("collections", ())}
    names = dict(Collection.objects.filter(pk__in=chosen).values_list("pk", "name"))
    named = {str(pk): name for pk, name in names.items()}
    found = []
    for field, label in LABELS.items():
        before, after = (lines_of(field, each.configuration, named) for each in (old, new))
        if before != after:
            found.append(Difference(label, compared(before, after)))
    return found


def compared(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Return the lines of both, in order."""
    kinds: dict[str, Literal["same", "removed", "added"]] = {
        "  ": "same",
        "- ": "removed",
        "+ ": "added",
    }
    lines = ndiff(before, after)
    return [Line(kinds[line[:2]], line[2:]) for line in lines if line[:2] in kinds]


def lines_of(
    field: str, configuration: Mapping[str, Any], collections: Mapping[str, str]
) -> list[str]:
    """Return a setting as people read it."""
    value = configuration.get(field)
    if field == "collections":
        gone = gettext("a collection that is gone")
        return sorted(collections.get(pk, gone) for pk in value or ()) or [gettext("all")]
    if isinstance(value, bool):
        return [gettext("yes") if value else gettext("no")]
    if isinstance(value, dict):
        return json.dumps(value, indent=2, ensure_ascii=False).splitlines() if value else []
    return str(value or "").splitlines()


@transaction.atomic
def restore(version: AssistantVersion, by: User) -> AssistantVersion:
    """Let an assistant answer as that version did, by a new version of the same; return that.

    Who may use it, and what it is called, stay. Raises VersionError.
    """
    assistant = version.assistant
    if assistant is None:
        raise VersionError(gettext("The assistant of this version is gone."))
    configuration = version.configuration
    wanted = configuration.get("collections", [])
    kept = Collection.objects.filter(pk__in=wanted)
    if kept.count() < len(wanted):
        # Fewer would answer otherwise than it did, and none would mean all.
        raise VersionError(gettext("A collection that this version searched is gone."))
    try:
        SearchSettings.parse(configuration.get("search_settings", {}))
        GenerationSettings.parse(configuration.get("generation", {}))
    except (SearchSettingsError, GenerationSettingsError) as error:
        raise VersionError(
            gettext("Its settings are of an earlier release: {problem}").format(problem=error)
        ) from error
    fields = {name: configuration[name] for name in CONFIGURATION if name in configuration}
    Assistant.objects.filter(pk=assistant.pk).update(**fields)
    assistant.refresh_from_db()
    assistant.collections.set(kept)
    return assistant.record_version(by)
