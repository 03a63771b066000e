"""What filters keep, in PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.models import Collection, Document, DocumentVersion, Stage
from retrieval.search import filter_sql, filters
from retrieval.search.scope import SEARCHED_DOCUMENTS, Scope

pytestmark = pytest.mark.django_db

A_METADATA: dict[str, Any] = {
    "year": 2020, "price": 9.5, "author": ["Ann", "Bob"], "draft": False, "part": {"no": "AB-1"},
    "date": "2020-05-01T10:00:00Z", "people": [{"name": "Ann"}, {"name": "Cy"}], "empty": None,
}  # fmt: skip
B_METADATA: dict[str, Any] = {"year": "2020", "author": "Bob", "draft": True, "date": "2021-01-01"}


@pytest.fixture
def documents(db: None) -> dict[str, Document]:
    """Return the documents a and b, and c, of which nothing is known."""
    return {
        "a": _document("a", "Manuals", A_METADATA, language="de", size=100, page_starts=[0, 5]),
        "b": _document("b", "Letters", B_METADATA, language="en", size=200),
        "c": _document("c", "Letters", {}, language=""),
    }


def _document(name: str, collection: str, metadata: dict[str, Any], **fields: Any) -> Document:
    home, _ = Collection.objects.get_or_create(name=collection)
    document = Document.objects.create(collection=home, name=f"{name}.txt", title=name.upper())
    document.current_version = DocumentVersion.objects.create(
        document=document, number=1, metadata=metadata, stage=Stage.READY, sha256="",
        **{"size": 0, **fields},
    )  # fmt: skip
    document.save()
    return document


def kept(filter_: object) -> str:
    """Return the names of what a filter keeps, in order."""
    condition = filter_sql.compiled(filters.parse(filter_))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT document.name FROM {SEARCHED_DOCUMENTS} WHERE {condition.sql} ORDER BY 1",
            list(condition.params),
        )
        return "".join(name.removesuffix(".txt") for (name,) in cursor.fetchall())


@pytest.mark.parametrize(
    ("filter_", "names"),
    [
        ({"metadata.year": 2020}, "a"),
        ({"metadata.year": "2020"}, "b"),
        ({"metadata.year": {"$neq": 2020}}, "bc"),
        ({"metadata.year": {"$gt": 2019.5}}, "a"),
        ({"metadata.year": {"$lte": 2019}}, ""),
        ({"metadata.year": {"$in": [2019, "2020"]}}, "b"),
        ({"metadata.year": {"$nin": [2019, "2020"]}}, "ac"),
        ({"metadata.year": {"$in": []}}, ""),
        ({"metadata.year": None}, "c"),
        ({"metadata.year": {"$neq": None}}, "ab"),
        ({"metadata.empty": None}, "abc"),
        ({"metadata.price": {"$gte": 9.5, "$lt": 10}}, "a"),
        ({"metadata.draft": True}, "b"),
        ({"metadata.draft": False}, "a"),
        ({"metadata.author": "Bob"}, "ab"),
        ({"metadata.author": {"$neq": "Ann"}}, "bc"),
        ({"metadata.author": ["Ann", "Bob"]}, "a"),
        ({"metadata.author": {"$neq": ["Ann", "Bob"]}}, "bc"),
        ({"metadata.author": {"$in": ["Cy", "Ann"]}}, "a"),
        ({"metadata.author": {"$like": "B_b"}}, "ab"),
        ({"metadata.author": {"$ilike": "ANN%"}}, "a"),
        ({"metadata.author": {"$like": "ann"}}, ""),
        ({"metadata.author": {"$gt": "Ann"}}, "ab"),
        ({"metadata.year": {"$like": "20%"}}, "b"),
        ({"metadata.part.no": "AB-1"}, "a"),
        ({"metadata.part.no.deeper": "AB-1"}, ""),
        ({"metadata.part": {"$neq": None}}, "a"),
        ({"metadata.people.name": "Cy"}, "a"),
        ({"metadata.date": "2020-05-01"}, "a"),
        ({"metadata.date": {"$gt": "2020-05-01"}}, "b"),
        ({"metadata.date": {"$lte": "2020-05-01"}}, "a"),
        ({"metadata.date": {"$lt": "2020-05-01"}}, ""),
        ({"metadata.date": {"$lt": "2020-05-01T12:30:00+02:00"}}, "a"),
        ({"metadata.date": {"$in": ["2021-01-01", "2020-05-01"]}}, "ab"),
        ({"metadata.author": {"$gte": "2020-01-01"}}, ""),
        ({"metadata.date": {"$lte": "9999-12-31"}}, "ab"),
        ({"metadata.date": "2024-02-30"}, ""),
        ({"metadata.year": {"$in": ["0000-00-00", "2020"]}}, "b"),
        ({"language": "de"}, "a"),
        ({"language": None}, "c"),
        ({"language": {"$neq": "de"}}, "bc"),
        ({"title": {"$in": ["A", "C"]}}, "ac"),
        ({"name": {"$ilike": "B%"}}, "b"),
        ({"name": {"$gt": "a.txt"}}, "bc"),
        ({"size": {"$gt": 99.5}}, "ab"),
        ({"size": {"$in": [100, 200.0]}}, "ab"),
        ({"page_count": {"$gte": 2}}, "a"),
        ({"page_count": None}, "bc"),
        ({"collection": "Letters"}, "bc"),
        ({"collection_name": {"$like": "Man%"}}, "a"),
        ({"created_at": {"$gte": "2000-01-01"}}, "abc"),
        ({"created_at": "2000-01-01"}, ""),
        ({"created_at": {"$in": ["2000-01-01", "2000-01-02T00:00:00Z"]}}, ""),
        ({"created_at": {"$nin": ["2000-01-01"]}}, "abc"),
        ({"$or": [{"title": "A"}, {"$and": [{"language": "en"}, {"size": 200}]}]}, "ab"),
        ({"title": "A", "size": 200}, ""),
    ],
)
def test_filter_keeps(filter_: object, names: str, documents: dict[str, Document]) -> None:
    """Each operator on each kind of value keeps what it should, and nothing else."""
    assert kept(filter_) == names


def test_ids(documents: dict[str, Document]) -> None:
    """Documents and collections are found by their ids."""
    first = documents["a"]
    assert kept({"id": str(first.pk)}) == "a"
    assert kept({"document_id": {"$nin": [str(first.pk)]}}) == "bc"
    assert kept({"collection_ids": {"$in": [str(first.collection_id)]}}) == "a"


def test_what_people_say_wins(documents: dict[str, Document]) -> None:
    """The document's metadata is over its file's; null takes a value away."""
    Document.objects.filter(name="a.txt").update(metadata={"year": 1999, "draft": None})
    assert kept({"metadata.year": 1999}) == "a"
    assert kept({"metadata.year": 2020}) == ""
    assert kept({"metadata.draft": None}) == "ac"
    assert kept({"metadata.price": 9.5}) == "a"


SIGNS = st.text(alphabet="'\"\\$%_;-(){}[]@?*.:#| \nab\u0301é\U0001f600", max_size=30)
VALUES = SIGNS | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
OPERATIONS = st.one_of(
    st.tuples(st.sampled_from(filters.OPERATORS), VALUES | st.lists(VALUES, max_size=3)),
    st.tuples(st.sampled_from(filters.PATTERNS), SIGNS),
)
FIELDS = st.sampled_from(["name", "created_at", "size"]) | SIGNS.map(lambda key: f"metadata.{key}")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(field=FIELDS, operation=OPERATIONS)
def test_what_is_taken_for_a_filter_is_one(
    field: str, operation: tuple[str, object], documents: dict[str, Document]
) -> None:
    """Quotes, signs and SQL in keys and values are keys and values: the statement stays one."""
    try:
        filters.parse({field: dict([operation])})
    except filters.FilterError:
        return
    kept({field: dict([operation])})
    assert Document.objects.count() == 3


@pytest.mark.parametrize(
    "text", ["' OR true --", "'; DROP TABLE retrieval_document; --", '" ? (true)', "$value", "%s"]
)
def test_injection_finds_itself_only(text: str, documents: dict[str, Document]) -> None:
    """What would end a literal is compared like any text, as a value and as a key."""
    assert kept({"name": text}) == ""
    assert kept({"metadata.year": text}) == ""
    Document.objects.filter(name="b.txt").update(metadata={text: text})
    assert kept({f"metadata.{text}": text}) == "b"


async def test_scope_still_hides_what_may_not_be_seen() -> None:
    """A filter keeps some of what may be seen; it shows nothing more."""
    filter_ = filters.parse({"$or": [{"name": {"$like": "%"}}, {"size": {"$gte": 0}}]})
    condition = Scope(User(), filter=filter_).condition.sql
    assert condition.startswith("document.enabled AND document.collection_id IN (")
    assert condition.count("(") == condition.count(")")
