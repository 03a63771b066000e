"""Folding and terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text.folding import fold
from retrieval.text.terms import index_terms, query_terms, words


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Zürich", "zurich"),
        ("Zu\u0308rich", "zurich"),
        ("STRASSE Straße", "strasse strasse"),
        ("Øl, Łódź, Ærø", "ol, lodz, aero"),
        ("ﬁnal ｆｕｌｌ①", "final full1"),
        ("co\u00adop\u200b", "coop"),
        ("Ёлка мой Київ", "елка мой київ"),
        ("Ἀθῆναι", "αθηναι"),
        ("مُحَمَّد الأول", "محمد الاول"),
        ("हिन्दी", "हिन्दी"),
        ("がぎ", "がぎ"),
        ("İstanbul ısı", "istanbul isi"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    """Accents and widths go, letters of their own right stay."""
    assert fold(text) == folded


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    """What is folded is in its final form."""
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Part AB-1234.", ["part", "ab", "1234", "ab1234"]),
        ("error E0023,", ["error", "e0023"]),
        ("v 1.2.3", ["v", "1", "2", "3", "1.2.3"]),
        ("e-mail me@example.com", ["e", "mail", "email", "me", "example", "com", "me@example.com"]),
        ("max_tokens", ["max", "tokens", "max_tokens"]),
        ("C++ and C#, A+", ["c", "c++", "and", "c", "c#", "a"]),
        ("the city's don’t", ["the", "city", "don"]),
        ("l'homme", ["l", "homme"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("用ABC公司", ["用", "abc", "公司"]),
        ("AB-1234를 2024년", ["ab", "1234", "ab1234", "를", "2024", "년"]),
        ("", []),
        ("-- ?! ''", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    """Identifiers are found whole and in parts; scripts are told apart."""
    assert words(text) == found


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("Die alten Häuser", "de", ["die", "alt", "haus"]),
        ("running cities", "en", ["run", "citi"]),
        ("running", "", ["running"]),
        ("running", "xx", ["running"]),
        ("中国的", "zh", ["中", "国", "的", "中国", "国的"]),
    ],
)
def test_index_terms(text: str, language: str, terms: list[str]) -> None:
    """Documents are indexed by stems, and by characters in ones and twos."""
    assert index_terms(text, language) == terms


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("Wie alt sind die Häuser?", "de", ["alt", "haus"]),
        ("What are the cities?", "en", ["citi"]),
        ("who is it", "en", ["who", "is", "it"]),
        ("die Stadt", "en", ["die", "stadt"]),
        ("brass -valves", "en", ["brass", "valv"]),
        ("首都在哪", "zh", ["首都", "都在", "在哪"]),
        ("茶", "zh", ["茶"]),
    ],
)
def test_query_terms(text: str, language: str, terms: list[str]) -> None:
    """A question loses its stop words if others are left; nothing in it is an operator."""
    assert query_terms(text, language) == terms


@pytest.mark.parametrize("question", ["휴", "휴가", "직원", "직원은", "연차휴가", "휴가 신청"])
def test_a_korean_word_is_found_whatever_stands_behind_it(question: str) -> None:
    """Particles are written on to words; of a question's pairs, not all need be there."""
    held = index_terms("모든 직원은 연차휴가를 신청할 수 있다.", "ko")
    assert set(query_terms(question, "ko")) <= set(held)


@pytest.mark.parametrize(
    ("held", "question"),
    [
        ("AB-1234", "AB1234"),
        ("AB1234", "AB-1234"),
        ("AB-1234/C", "AB1234"),
        ("AB-1234/C", "ab1234c"),
        ("AB1234C", "AB-1234/C"),
        ("AB.1234", "AB1234"),
        ("AB1234", "AB_1234"),
        ("AB/12.5", "AB12.5"),
    ],
)
def test_a_code_is_found_however_it_is_written(held: str, question: str) -> None:
    assert set(query_terms(question, "en")) & set(index_terms(f"The {held} leaks.", "en"))


@pytest.mark.parametrize(
    "text",
    [
        "1.2.3 of 2024-05-01",
        "v1.5 3/4in 2.5kg",
        "me1@example.com",
        "example.com/page",
        "https://example.com/" + "a-long-address/" * 3 + "1",
        "e-mail AB-1234",
    ],
)
def test_what_is_no_code_is_not_indexed_as_one(text: str) -> None:
    """Numbers stay as they are, and so do addresses."""
    assert index_terms(text, "") == words(text)


def test_a_long_run_without_spaces_is_indexed_to_its_end() -> None:
    assert set(query_terms("ใหม่", "th")) <= set(index_terms("ก" * 100 + "ใหม่", "th"))


@given(st.text())
def test_a_text_holds_its_own_terms(text: str) -> None:
    """Whatever is asked for in a text's own words is indexed in it."""
    assert set(query_terms(text, "en")) <= set(index_terms(text, "en"))
