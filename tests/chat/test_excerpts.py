"""A passage in its document: its surroundings, more of them, and what stands on which page."""

import pytest
from django.contrib.auth.models import AnonymousUser, User

from chat.excerpts import MORE_CHARS, SURROUNDING_CHARS, excerpt, text_after, text_before
from retrieval.models import Chunk, Collection, DocumentVersion, Visibility
from tests import conversations

pytestmark = pytest.mark.django_db

LINES = "".join(f"Line {number} of many.\n" for number in range(2000))
START = LINES.index("Line 1000 ")
END = LINES.index("Line 1010 ")


@pytest.fixture
def ada() -> User:
    return conversations.person()


def chunk(text: str, start: int, end: int, page_starts: list[int] | None = None) -> Chunk:
    """Make a document of one chunk, which is [start, end) of its text."""
    version = conversations.document(text)
    DocumentVersion.objects.filter(pk=version.pk).update(page_starts=page_starts or [])
    made = version.chunks.all()[0]
    made.char_start, made.char_end, made.text = start, end, text[start:end]
    made.save()
    return made


def test_of_a_long_text_only_the_surroundings_are_shown_in_whole_lines(ada: User) -> None:
    shown = excerpt(chunk(LINES, START, END), ada, "Line 1001 of many.")
    assert shown is not None
    assert shown.quote == "Line 1001 of many."
    assert shown.above.text.startswith("Line ")
    assert shown.below.text.endswith("of many.")
    assert SURROUNDING_CHARS - 50 < len(shown.above.text) <= SURROUNDING_CHARS
    assert shown.above.start == LINES.index(shown.above.text)
    assert shown.below.end == START + LINES[START:].index(shown.below.text) + len(shown.below.text)


def test_pieces_before_and_after_join_without_gap_to_the_whole_text(ada: User) -> None:
    passage = chunk(LINES, START, END)
    shown = excerpt(passage, ada)
    assert shown is not None
    text = shown.above.text + shown.lead + shown.quote + shown.trail + shown.below.text
    start, end = shown.above.start, shown.below.end
    while start is not None:
        piece = text_before(passage, start, ada)
        assert piece is not None
        assert len(piece.text) <= MORE_CHARS
        text, start = piece.text + text, piece.start
    while end is not None:
        piece = text_after(passage, end, ada)
        assert piece is not None
        text, end = text + piece.text, piece.end
    assert text == LINES


def test_a_short_text_is_whole(ada: User) -> None:
    shown = excerpt(chunk("Before. Here. After.", 8, 13), ada)
    assert shown is not None
    assert (shown.above.text, shown.above.start) == ("Before. ", None)
    assert (shown.below.text, shown.below.end) == (" After.", None)


def test_a_sentence_that_stands_there_twice_is_marked_in_its_place(ada: User) -> None:
    text = "It rains. It snows. It rains."
    shown = excerpt(chunk(text, 0, len(text)), ada, "It rains.", (20, 29))
    assert shown is not None
    assert (shown.lead, shown.quote) == ("It rains. It snows. ", "It rains.")


def test_a_place_outside_of_the_passage_is_not_believed(ada: User) -> None:
    shown = excerpt(chunk("It rains. It snows.", 0, 19), ada, "It snows.", (900, 910))
    assert shown is not None
    assert shown.quote == "It snows."


def test_a_passage_is_parted_by_pages_and_the_page_of_the_quote_comes_first(ada: User) -> None:
    text = "Title\n\nFirst page ends. Second page says so."
    second = text.index("Second")
    shown = excerpt(chunk(text, 7, len(text), [0, second, second]), ada, "Second page says so.")
    assert shown is not None
    assert [page.number for page in shown.pages] == [1, 3]
    assert [page["number"] for page in shown.page_data] == [3, 1]
    assert shown.pages[0].passage == "First page ends. "
    assert [page.quote for page in shown.pages] == ["", "Second page says so."]


def test_who_may_not_see_the_collection_gets_nothing_of_it() -> None:
    passage = chunk(LINES, START, END)
    Collection.objects.update(visibility=Visibility.RESTRICTED)
    assert excerpt(passage, AnonymousUser()) is None
    assert text_before(passage, START, AnonymousUser()) is None
    assert text_after(passage, END, AnonymousUser()) is None


def test_a_wrapped_text_is_shown_unwrapped_with_its_quote_in_place(ada: User) -> None:
    """A sentence that goes on in the next line is marked, whatever is cut out of the text."""
    above = "It stands on the cliffs above the sea, where the road that leads to it\n"
    quote = "Its lamp was first lit on Christmas Day, and is seen by all."
    text = above + "ends, and ships see it. " + quote.replace("and is", "and\nis")
    passage = chunk(text, len(above), len(text))
    start, end = text.index("Its lamp"), len(text)
    DocumentVersion.objects.update(media_type="text/plain")
    for place in (None, (start, end)):
        shown = excerpt(passage, ada, quote, place)
        assert shown is not None
        assert shown.quote == quote
        assert shown.above.text == above.replace("\n", " ")
        assert shown.lead == "ends, and ships see it. "
    more = text_before(passage, len(above), ada)
    assert more is not None
    assert more.text == above
    more = text_after(passage, 0, ada)
    assert more is not None
    assert "\n" not in more.text


def test_nothing_is_left_of_an_items_indentation(ada: User) -> None:
    text = "- Its lamp was first lit on Christmas Day, and it is seen by all who\n  pass the cape."
    passage = chunk(text, 0, len(text))
    DocumentVersion.objects.update(media_type="text/markdown")
    shown = excerpt(passage, ada)
    assert shown is not None
    assert shown.trail == text.replace("\n ", "")
