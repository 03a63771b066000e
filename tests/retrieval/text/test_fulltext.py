"""What PostgreSQL makes of our vectors and queries."""

from __future__ import annotations

import pytest
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from retrieval.models import Chunk
from retrieval.text import fulltext

pytestmark = pytest.mark.django_db

storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def matches(vector: str, query: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::tsvector @@ %s::tsquery", [vector, query])
        return bool(cursor.fetchone()[0])


def test_title_heading_and_text_have_their_weights() -> None:
    """Title A, heading B, text D; positions run on."""
    vector = fulltext.document_vector(
        "Brass valves.", title="Valve handbook", heading="Materials", language="en"
    )
    assert vector == "'valv':1A,5 'handbook':2A 'materi':3B 'brass':4"
    assert matches(vector, "handbook:A & brass:D & !brass:A")


@hypothesis_settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(text=storable)
def test_any_text_can_be_stored_and_found(text: str) -> None:
    """No sign in a text or question breaks the syntax, and a text matches itself."""
    vector = fulltext.document_vector(text, title=text)
    terms = [form for forms in fulltext.variants(text, ["en", "de"]) for form in forms]
    if terms:
        assert matches(vector, fulltext.any_of(terms))


def test_long_texts_can_be_stored() -> None:
    """Many words, and words of any length, stay within PostgreSQL's limits."""
    long = " ".join(str(number) for number in range(20_000)) + " " + "x" * 5000
    assert matches(fulltext.document_vector(long), "'19999'")
    assert matches(fulltext.document_vector(long), fulltext.any_of(fulltext.variants(long, [])[-1]))


def test_variants_are_each_languages_forms_of_a_term() -> None:
    """One entry a term, with the forms documents of these languages hold it in."""
    assert fulltext.variants("running houses", ["de", "en"]) == [
        ("running", "run"),
        ("houses", "hous"),
    ]


def test_array_is_read_by_postgresql() -> None:
    """Quotes, commas and backslashes survive."""
    values = ['a"b', "c,d", "e\\f", "{g}"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::text[]", [fulltext.array(values)])
        assert cursor.fetchone()[0] == values


def test_field_takes_the_text_form() -> None:
    """`Chunk.fulltext` accepts it in an update as in a create."""
    assert Chunk.objects.update(fulltext=fulltext.document_vector("Häuser")) == 0
