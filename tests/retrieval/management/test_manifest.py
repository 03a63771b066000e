"""What a manifest expects of a file, and whether it came to that."""

from typing import Any

import pytest

from retrieval.management.manifest import as_expected


@pytest.mark.parametrize(
    ("entry", "text", "error", "expected"),
    [
        ({"expect": {"contains": ["ﬁne"]}}, "fi\u00adne", None, True),
        ({"expect": {"contains": ["a"], "absent": ["b"]}}, "a b", None, False),
        ({"expect": {"contains": ["a"]}}, "", "corrupt", False),
        ({"expect": {"error": "empty"}}, "a", None, False),
        ({"expect": {"error": "empty", "errors_accepted": ["no-text"]}}, "", "no-text", True),
        ({"expect": {"contains": ["a"]}, "or_expect": {"error": "corrupt"}}, "", "corrupt", True),
        ({"expect": {"contains": ["a"]}, "pages": 3}, "a", None, True),
        ({"expect": {"error": "no-text"}, "ocr_contains": ["a"]}, "a", None, True),
        ({"expect": {"error": "no-text"}, "ocr_contains": ["a"]}, "b", None, False),
        ({"expect": {"error": "no-text"}, "ocr_contains": ["a"]}, "", "no-text", True),
    ],
)
def test_expectations(
    entry: dict[str, Any], text: str, error: str | None, *, expected: bool
) -> None:
    """Text is compared as manifests say; errors by their class."""
    assert as_expected(entry, text, error, None) == expected


def test_pages_are_expected() -> None:
    """A wrong number of pages is not as expected."""
    assert not as_expected({"expect": {}, "pages": 3}, "", None, 2)
