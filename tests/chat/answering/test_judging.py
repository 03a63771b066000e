"""The generator as the judge of what an answer's sources say."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from chat.answering import judging
from chat.frames import CitationSupport, Grounding, SentenceSupport, Support
from retrieval import backends
from retrieval.backends.base import BackendError
from tests.fakes import ScriptedGenerator

ANSWER = "The tower is 90 m high [1]. It stands in Lund [2]."


def citation(number: int, support: Support, quote: str) -> CitationSupport:
    return CitationSupport(
        citation=number, support=support, score=0.5, source_id="", document_id="", quote=quote
    )


GROUNDING = Grounding(
    verdict="grounded",
    sentences=[
        SentenceSupport(span=(0, 27), support="supported", citations=[0]),
        SentenceSupport(span=(28, 50), support="supported", citations=[1]),
    ],
    citations=[citation(0, "supported", "It is 96 m high."), citation(1, "supported", "In Lund.")],
)


@pytest.fixture
def generator(settings: Settings) -> ScriptedGenerator:
    settings.GROUNDING_JUDGE = True
    settings.RAG_BACKENDS = {"generator": {"BACKEND": "tests.fakes.ScriptedGenerator"}}
    configured = backends.generator()
    assert isinstance(configured, ScriptedGenerator)
    return configured


def test_it_is_off_unless_a_setting_says_otherwise(
    generator: ScriptedGenerator, settings: Settings
) -> None:
    assert judging.is_on()
    settings.GROUNDING_JUDGE = False
    assert not judging.is_on()


def test_a_generator_that_quotes_does_not_judge(settings: Settings) -> None:
    settings.GROUNDING_JUDGE = True
    settings.RAG_BACKENDS = {
        "generator": {"BACKEND": "retrieval.backends.extractive.ExtractiveGenerator"}
    }
    assert not judging.is_on()


async def test_its_verdicts_replace_those_of_words_and_meaning(
    generator: ScriptedGenerator,
) -> None:
    generator.script = ["1: no\n2: yes"]
    judged = await judging.judge(ANSWER, GROUNDING, None)
    assert judged.grounding.verdict == "partly"
    assert [each.support for each in judged.grounding.sentences] == ["unsupported", "supported"]
    assert [each.support for each in judged.grounding.citations] == ["unsupported", "supported"]
    assert judged.tokens == 12


async def test_it_is_shown_each_sentence_with_what_supports_it(
    generator: ScriptedGenerator,
) -> None:
    generator.script = ["1: yes\n2: yes"]
    await judging.judge(ANSWER, GROUNDING, None)
    asked = generator.requests[0].messages[-1].content
    assert asked == (
        "1. Statement: The tower is 90 m high [1].\nQuotation: It is 96 m high.\n\n"
        "2. Statement: It stands in Lund [2].\nQuotation: In Lund."
    )


async def test_pairs_that_it_leaves_out_stay_as_they_were(generator: ScriptedGenerator) -> None:
    generator.script = ["I think so.\n**2.** partly"]
    judged = await judging.judge(ANSWER, GROUNDING, None)
    assert [each.support for each in judged.grounding.sentences] == ["supported", "partly"]


async def test_if_it_fails_everything_stays_as_it_was(generator: ScriptedGenerator) -> None:
    generator.script = [BackendError("made up", True)]
    assert await judging.judge(ANSWER, GROUNDING, None) == judging.Judged(GROUNDING)
