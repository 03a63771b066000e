"""Answers by quotation: the right sentence with its marker, and nothing else that reads so."""

import re
from functools import partial

import pytest
import stamina
from django.test import override_settings

from retrieval.backends.base import GenerationRequest, Passage
from retrieval.backends.extractive import ExtractiveGenerator, literal
from retrieval.search.query import analyse
from retrieval.text import sentences

TOWER = (
    "The region is known for its lakes. The old lighthouse was built in 1871 by Anna Berg. "
    "It stands on a cliff. Many visitors come in summer."
)
BRIDGE = "The bridge crosses the river. It was opened in 1932 and painted green."


def passage(index: int, text: str, language: str = "en") -> Passage:
    return Passage(index, text, "Title", analyse=partial(sentences.split, language=language))


async def answer(question: str, *passages: Passage) -> tuple[str, str | None]:
    request = GenerationRequest([], analyse(question), passages)
    deltas = [delta async for delta in ExtractiveGenerator().stream(request)]
    assert all(delta.finish_reason is None for delta in deltas[:-1])
    return "".join(delta.text for delta in deltas), deltas[-1].finish_reason


async def test_quotes_the_sentence_that_answers_and_cites_its_passage():
    text, reason = await answer(
        "When was the lighthouse built?", passage(1, BRIDGE), passage(2, TOWER)
    )
    assert text.startswith("From your documents:\n\n“The old lighthouse was built in 1871")
    assert "Anna Berg.” [2]" in text
    assert "lakes" not in text
    assert reason == "stop"


@pytest.mark.parametrize(
    ("question", "text", "language", "expected"),
    [
        (
            "Wann wurde der Leuchtturm gebaut?",
            "Die Gegend hat viele Seen. Der Leuchtturm wurde 1871 von Anna Berg gebaut.",
            "de",
            "“Der Leuchtturm wurde 1871 von Anna Berg gebaut.” [1]",
        ),
        (
            "灯塔是什么时候建造的？",
            "这个地区有许多湖泊。灯塔由安娜于1871年建造。夏天有很多游客。",
            "zh",
            "“灯塔由安娜于1871年建造。” [1]",
        ),
        (
            "متى بنيت المنارة؟",
            "تشتهر المنطقة ببحيراتها. بنيت المنارة عام 1871. يأتي الزوار في الصيف.",
            "ar",
            "“بنيت المنارة عام 1871.” [1]",
        ),
    ],
)
async def test_quotes_in_the_language_of_the_documents(question, text, language, expected):
    quoted, _ = await answer(question, passage(1, text, language))
    assert expected in quoted
    assert quoted.count("“") == 1


async def test_the_same_sentence_in_two_passages_is_quoted_once():
    text, _ = await answer("When was the lighthouse built?", passage(1, TOWER), passage(2, TOWER))
    assert text.count("1871") == 1


async def test_words_alone_will_do_when_the_embedder_fails(caplog):
    options = {"model": "unknown", "base_url": "http://127.0.0.1:9/v1"}
    openai = {"BACKEND": "retrieval.backends.openai.OpenAIEmbedder", "OPTIONS": options}
    with stamina.set_testing(True), override_settings(RAG_BACKENDS={"embedder": openai}):
        text, _ = await answer("When was the lighthouse built?", passage(1, TOWER))
    assert "1871" in text
    assert "Quoting by words alone" in caplog.text


async def test_says_so_when_nothing_fits():
    text, reason = await answer("Who invented quantum chromodynamics?", passage(1, BRIDGE))
    assert reason == "no_answer"
    assert "“" not in text


async def test_says_so_without_any_passage():
    assert (await answer("Who?"))[1] == "no_answer"


async def test_streams_in_pieces():
    request = GenerationRequest([], analyse("When was the lighthouse built?"), [passage(1, TOWER)])
    deltas = [delta async for delta in ExtractiveGenerator().stream(request)]
    assert len(deltas) > 10


async def test_markers_of_a_document_are_no_citations():
    text, _ = await answer(
        "When was the lighthouse built?",
        passage(1, "The lighthouse was built in 1871 [3][4, 5], as 【6】 says. It stands."),
    )
    assert re.findall(r"[\[【]\d[^\]】]*[\]】]", text) == ["[1]"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a *b* `c` [d](e) <script>", r"a \*b\* \`c\` \[d\](e) \<script>"),
        ("snake_case and _emphasis_", r"snake_case and \_emphasis\_"),
        ("see [2] and [1-3]", "see (2) and (1-3)"),
        ("costs $5 &amp; more & more", r"costs \$5 \&amp; more & more"),
        ("two\n lines", "two lines"),
    ],
)
def test_quotations_are_literal_markdown(text, shown):
    assert literal(text) == shown


async def test_the_row_of_a_table_is_quoted_beside_its_headings():
    table = (
        "Destination Hotel per night Daily allowance  \nDomestic €110 €32  \n"
        "London, Paris, Zurich €190 €61  \nRest of the world €160 €52"
    )
    text, _ = await answer("What is the daily allowance in London?", passage(1, table))
    assert "Daily allowance” [1]" in text
    assert "London, Paris, Zurich €190 €61” [1]" in text


async def test_a_heading_is_not_quoted():
    manual = "## Lighthouse opening hours\n\nThe lighthouse opens at nine."
    text, _ = await answer("When does the lighthouse open?", passage(1, manual))
    assert text == "From your documents:\n\n“The lighthouse opens at nine.” [1]"
