"""Responses that are made while they are sent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group
from pytest_django import DjangoAssertNumQueries

from retrieval import streaming


async def test_parts_are_sent_in_pieces_as_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "PIECE_BYTES", 4)
    made: list[bytes] = []

    def parts() -> Iterator[bytes]:
        for part in (b"ab", b"cd", b"", b"efghij", b"k"):
            made.append(part)
            yield part

    pieces = streaming.in_steps(parts())
    assert await anext(pieces) == b"abcd"
    assert made == [b"ab", b"cd"]
    assert [piece async for piece in pieces] == [b"efghij", b"k"]


@pytest.mark.django_db
def test_rows_come_in_pages_the_newest_first(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    made = [Group.objects.create(name=f"g{number}") for number in range(5)]
    rows = Group.objects.filter(name__startswith="g")
    with django_assert_num_queries(4):
        pages = list(streaming.by_key(rows, size=2))
    assert pages == [[made[4], made[3]], [made[2], made[1]], [made[0]]]
    assert list(streaming.by_key(rows.filter(name="none"))) == []
