"""What comes from outside is understood, or refused in words: nothing else is raised."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chat.client_messages import ClientMessageAdapter
from chat.frames import Error
from chat.refusals import refusal
from ragsite.origins import is_allowed
from retrieval.ingestion import metadata
from retrieval.ingestion.incoming import NAME_BYTES, UploadError, clean_name
from retrieval.search import filter_sql, filters
from retrieval.search.filter_values import FilterError
from retrieval.search.settings import SearchSettings, SearchSettingsError
from retrieval.text.cleaning import inert, label, without_tags
from tests.fuzz.hostile_values import TEXTS, message, value

ANY_TEXT = st.text(st.characters(codec=None), max_size=400)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(ANY_TEXT, inner, max_size=5),
    max_leaves=20,
)
FIELDS = st.sampled_from(
    [*SearchSettings.model_fields, *filters.FIELDS, *filters.OPERATORS, "$and", "$or", "metadata.a"]
)
SETTINGS = st.dictionaries(FIELDS | ANY_TEXT, st.dictionaries(FIELDS, JSON, max_size=3) | JSON)


def understood(raw: str | bytes) -> None:
    """Read a message as the socket does, and write what it would be answered."""
    try:
        ClientMessageAdapter.validate_json(raw)
    except ValidationError as error:
        frame = refusal(error, raw)
        assert isinstance(frame, Error)
        assert frame.message
        json.loads(frame.to_json())


@given(st.binary(max_size=300) | ANY_TEXT.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_message_or_refused(raw: bytes) -> None:
    understood(raw)


@pytest.mark.parametrize(
    "raw",
    [
        r'{"id": "\ud800", "type": "x"}',
        r'{"id": "a\u0000", "type": "x"}',
        '{"id": ' + "9" * 5_000 + ', "type": "x"}',
        '{"type": "x", "id": ' + "[" * 900 + "]" * 900 + "}",
        '{"id": "x", "a": ' + "[" * 500_000,
    ],
)
def test_an_id_that_cannot_be_said_again_is_refused_too(raw: str) -> None:
    understood(raw)


@given(st.integers())
def test_messages_that_were_changed_are_understood_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(20):
        understood(message(chance, []))


@given(JSON | SETTINGS)
def test_any_filter_is_compiled_or_refused(data: Any) -> None:
    try:
        filter_sql.compiled(filters.parse(data))
    except FilterError as error:
        assert str(error)


@given(SETTINGS)
def test_any_search_settings_are_taken_or_refused(data: dict[str, Any]) -> None:
    try:
        SearchSettings.parse(data)
    except SearchSettingsError as error:
        assert str(error)


@given(JSON | st.integers().map(lambda seed: value(random.Random(seed))))
def test_any_metadata_is_taken_or_refused(data: Any) -> None:
    try:
        json.dumps(metadata.checked(data)).encode()
    except metadata.MetadataError as error:
        assert str(error)


@given(ANY_TEXT | st.sampled_from(TEXTS), ANY_TEXT)
def test_any_name_is_cleaned_or_refused(name: str, folder: str) -> None:
    try:
        cleaned = clean_name(name, folder)
    except UploadError as error:
        assert error.code == "bad-name"
        return
    assert 0 < len(cleaned.encode()) <= NAME_BYTES
    assert "\x00" not in cleaned
    assert not set(cleaned.split("/")) & {"", ".", ".."}
    # What was cleaned is clean.
    assert clean_name(cleaned.rpartition("/")[2]) == cleaned.rpartition("/")[2]


@given(ANY_TEXT)
def test_any_text_can_be_a_label_or_a_part_of_a_prompt(text: str) -> None:
    shown = label(text)
    assert label(shown) == shown
    without_tags(inert(text), "passages?").encode()
    inert(shown).encode()


@given(ANY_TEXT, ANY_TEXT)
def test_any_origin_and_host_are_judged(origin: str, host: str) -> None:
    assert not is_allowed(origin, host)
    assert not is_allowed(f"http://{origin}", host)
