"""How well an answer is supported by what it cites."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from pytest_django import Settings

from chat.answering import meaning
from chat.answering.citations import CitedAnswer
from chat.answering.grounding import Grounder, verdict_of
from chat.frames import Citation, Grounding, Source
from retrieval import backends
from retrieval.backends.base import BackendError, Passage, Vectors
from retrieval.text import sentences
from tests.fakes import HashEmbedder

TOWER = "The tower of Lund is 96 metres high. Anna Berg built the tower in 1931."
RIVER = "The river Höje flows by. It floods in spring."
PARAPHRASE = "Lund has a building that rises 96 metres into the sky above everything else [1]."


class CountingEmbedder(HashEmbedder):
    """Says what it was asked for, and waits or fails where it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.gate: asyncio.Event | None = None
        self.error: BackendError | None = None

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        if self.gate:
            await self.gate.wait()
        if self.error:
            raise self.error
        return await super().embed_passages(texts)


@pytest.fixture
def embedder(settings: Settings) -> Iterator[CountingEmbedder]:
    settings.RAG_BACKENDS = {
        "embedder": {"BACKEND": "tests.chat.answering.test_grounding.CountingEmbedder"},
        "reranker": {"BACKEND": None},
    }
    meaning._vectors.clear()
    configured = backends.embedder()
    # Imported once by pytest and once by its path: the same in all but identity.
    assert type(configured).__name__ == "CountingEmbedder"
    yield configured  # type: ignore[misc]
    meaning._vectors.clear()


def cited(*texts: str, language: str = "en") -> CitedAnswer:
    passages = [
        Passage(
            index,
            text,
            title="",
            language=language,
            analyse=lambda part: sentences.split(part, language),
        )
        for index, text in enumerate(texts, 1)
    ]
    sources = [
        Source(index=index, source_id=f"chunk-{index}", document_id="", title="", snippet="")
        for index in range(1, len(texts) + 1)
    ]
    return CitedAnswer(passages, sources, place=lambda index, start, end: (100 + start, 100 + end))


def write(answer: CitedAnswer, text: str, grounder: Grounder | None = None) -> None:
    for frame in [*answer.feed(text), *answer.finish()]:
        if grounder and isinstance(frame, Citation):
            grounder.look()


async def ground(text: str, *passages: str, language: str = "en") -> Grounding:
    answer = cited(*passages, language=language)
    write(answer, text)
    return await Grounder(answer).finish()


async def test_an_answer_that_says_what_its_passages_say_is_grounded(
    embedder: CountingEmbedder,
) -> None:
    text = "The tower is 96 metres high [1]. The river Höje floods in spring [2]."
    found = await ground(text, TOWER, RIVER)
    assert found.verdict == "grounded"
    assert [text[slice(*each.span)] for each in found.sentences] == [
        "The tower is 96 metres high [1].",
        "The river Höje floods in spring [2].",
    ]
    assert [(each.citation, each.support) for each in found.citations] == [
        (0, "supported"),
        (1, "supported"),
    ]


async def test_a_citation_names_the_sentence_that_supports_it_and_its_place(
    embedder: CountingEmbedder,
) -> None:
    found = (await ground("Anna Berg built it in 1931 [1].", TOWER)).citations[0]
    assert found.quote == "Anna Berg built the tower in 1931."
    assert found.place == (100 + TOWER.index("Anna"), 100 + len(TOWER))


async def test_an_answer_with_a_wrong_number_is_partly_grounded(embedder: CountingEmbedder) -> None:
    text = "The tower is 69 metres high [1]. Anna Berg built the tower in 1931 [1]."
    found = await ground(text, TOWER)
    assert found.verdict == "partly"
    assert [each.support for each in found.sentences] == ["unsupported", "supported"]


async def test_an_answer_about_something_else_is_ungrounded(embedder: CountingEmbedder) -> None:
    found = await ground("Penguins breed on ice near the pole [1].", TOWER)
    assert found.verdict == "ungrounded"


async def test_an_answer_without_citations_has_no_sources(embedder: CountingEmbedder) -> None:
    assert await ground("The tower is high.", TOWER) == Grounding(verdict="no_sources")


async def test_quotations_are_grounded_and_nothing_is_embedded(embedder: CountingEmbedder) -> None:
    quotes = "\n\n".join(f"“{each.text}” [1]" for each in sentences.split(TOWER, "en"))
    found = await ground(f"From your documents:\n\n{quotes}", TOWER)
    assert (found.verdict, [each.score for each in found.citations]) == ("grounded", [1.0, 1.0])
    assert embedder.asked == []


async def test_sentences_are_embedded_once_however_often_they_are_cited(
    embedder: CountingEmbedder,
) -> None:
    await ground(PARAPHRASE, TOWER)
    await ground(PARAPHRASE, TOWER)
    assert len(embedder.asked) == len(set(embedder.asked)) == 3


async def test_what_is_cited_is_checked_while_the_answer_is_written(
    embedder: CountingEmbedder,
) -> None:
    answer = cited(TOWER)
    grounder = Grounder(answer)
    write(answer, PARAPHRASE, grounder)
    assert grounder._early
    await grounder._early
    embedder.asked.clear()
    assert (await grounder.finish()).citations[0].citation == 0
    assert embedder.asked == []


async def test_without_an_embedder_words_have_to_do(embedder: CountingEmbedder) -> None:
    embedder.error = BackendError("made up", True)
    assert (await ground(PARAPHRASE, TOWER)).verdict in ("partly", "ungrounded")


async def test_and_across_languages_nothing_can_be_said(embedder: CountingEmbedder) -> None:
    embedder.error = BackendError("made up", True)
    with pytest.raises(BackendError):
        await ground("Der Turm von Lund ist so hoch wie kein anderer [1].", TOWER)


async def test_of_two_passages_cited_together_one_may_support(embedder: CountingEmbedder) -> None:
    found = await ground("The tower of Lund is 96 metres high [1][2].", TOWER, RIVER)
    assert found.sentences[0].support == "supported"
    assert [each.support for each in found.citations] == ["supported", "unsupported"]


def test_most_of_an_answer_has_to_cite_for_it_to_be_grounded() -> None:
    assert verdict_of(["supported"], 1) == "grounded"
    assert verdict_of(["supported"], 2) == "partly"
    assert verdict_of([], 2) == "no_sources"
