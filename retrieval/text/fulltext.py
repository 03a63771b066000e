"""Full text as PostgreSQL stores and matches it: `tsvector` and `tsquery` made of our own terms.

PostgreSQL's parser would take AB-1234 for a word and a negative number, and its dictionaries
differ between versions; so terms are made here, for documents and questions alike.
"""

from __future__ import annotations

from collections.abc import Iterable

from retrieval.text.terms import index_terms, is_unspaced, query_terms, rows_of_phrase, stems

# Positions above this are not kept apart by PostgreSQL.
MAX_POSITION = 16_383


def document_vector(text: str, *, title: str = "", heading: str = "", language: str = "") -> str:
    """Return the value of `Chunk.fulltext`, as PostgreSQL's text form of a tsvector.

    Assign it to the field, in `bulk_create` or `update` too. `language` is an ISO 639-1 code, ""
    when unknown. Title, heading and text carry the weights A, B and D.
    """
    positions: dict[str, list[str]] = {}
    position = 0
    for part, weight in ((title, "A"), (heading, "B"), (text, "")):
        for term in index_terms(part, language):
            position += 1
            positions.setdefault(term, []).append(f"{min(position, MAX_POSITION)}{weight}")
    return " ".join(f"{quote(term)}:{','.join(places)}" for term, places in positions.items())


def variants(text: str, languages: Iterable[str]) -> list[tuple[str, ...]]:
    """Return a question's terms, each in the forms documents of these languages may hold it in.

    Nothing in a question is an operator.
    """
    by_language = [query_terms(text, language) for language in sorted({*languages, ""})]
    return list(
        dict.fromkeys(tuple(dict.fromkeys(forms)) for forms in zip(*by_language, strict=True))
    )


def phrase(text: str, languages: Iterable[str]) -> str:
    """Return a tsquery that matches what has the words of `text` in a row, or "" if it has none.

    Words are compared by their stems, in the documents' languages; a run of a script that is
    written without spaces is looked for wherever it stands. A code is held by a longer one that
    begins with it, and in whatever way it is written if it is all there is.
    """
    rows = rows_of_phrase(text)
    forms = (_in_a_row(row, language) for language in sorted({*languages, ""}) for row in rows)
    matching = " | ".join(dict.fromkeys(form for form in forms if form))
    return f"({matching})" if matching else ""


def _in_a_row(found: list[str], language: str) -> str:
    rows: list[list[str]] = [[]]
    for word in found:
        if is_unspaced(word):
            # Behind its characters a run has its pairs, of which there may be more.
            rows += [[*word], []]
        else:
            rows[-1] += stems([word], language, singles=True)
    return " & ".join(f"({' <-> '.join(quote(term) for term in row)})" for row in rows if row)


def any_of(terms: Iterable[str]) -> str:
    """Return the text form of a tsquery that matches a vector with at least one of `terms`."""
    return " | ".join(quote(term) for term in terms)


def quote(term: str) -> str:
    """Return a lexeme as tsvector and tsquery read it."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def array(values: Iterable[str]) -> str:
    """Return the text form of a PostgreSQL array."""
    quoted = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join(f'"{value}"' for value in quoted) + "}"
