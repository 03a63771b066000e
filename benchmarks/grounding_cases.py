"""Statements and the passages they are checked against, made of judged sets of questions."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Truth = Literal["right", "altered", "wrong"]

WH = re.compile(
    r"^(?:(?:in|on|by|for|from|at|of|to|during|since|until|about|after|before) )?"
    r"(?:(?:what|which) (?:year|date|day|month|percentage|percent|number|size|century|amount|age)"
    r"(?: of)?|how (?:many|much|old|long|far|often|large|big|high)|when|what|which|who|whom|whose"
    r"|where|why|how)\b",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(r"\b(?:what|which|how many|who)\b[^,?]*$", re.IGNORECASE)


@dataclass(frozen=True)
class Case:
    """A statement, the passage it cites, and whether that says so.

    `right`: it does; `altered`: it says another number; `wrong`: it is about something else.
    """

    kind: str
    truth: Truth
    claim: str
    passage: str
    title: str
    language: str
    half: int
    """0 or 1, by the question: thresholds are chosen on one half."""


def records(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """Return a file's records by their ids."""
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return {each["_id"]: each for each in map(json.loads, lines)}


def statement(question: str, answer: str) -> str:
    """Return a question and its answer as one sentence, roughly as a model would say it."""
    asked = re.sub(r"[?？؟\s]+$", "", question.strip())
    found = WH.match(asked)
    if found and (rest := asked[found.end() :].strip()):
        return f"{answer} {rest}." if len(found[0].split()) > 1 else f"{rest}: {answer}."
    return f"{asked}: {answer}."


def half_of(question: str) -> int:
    """Return the half a question is in; the same in every language of a set."""
    return zlib.crc32(question.partition("-")[2].encode() or question.encode()) % 2


def counterfactual(folder: Path) -> Iterator[Case]:
    """Yield statements with the passage's own number and with the number it was altered from."""
    corpus, queries = records(folder, "corpus"), records(folder, "queries")
    documents: dict[str, list[str]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, _ = line.split("\t")
        documents.setdefault(query, []).append(document)
    for id_, record in records(folder, "answers").items():
        question = queries[id_]["text"]
        for document in documents[id_]:
            per_doc = record.get("per_doc", {})
            right = per_doc.get(document, record["answers"][0])
            others = [value for other, value in per_doc.items() if other != document]
            values: dict[str, Truth] = {right: "right"}
            for other in record.get("world_answers") or others:
                values.setdefault(other, "altered")
            text, title = corpus[document]["text"], corpus[document]["title"].replace("_", " ")
            half = half_of(id_)
            for value, truth in values.items():
                said = statement(question, value)
                yield Case("question and answer", truth, said, text, title, "en", half)
            sentence = sentence_with(text, right)
            if sentence and "altered" in values.values():
                other = next(value for value, truth in values.items() if truth == "altered")
                swapped = re.sub(rf"(?<!\w){re.escape(right)}(?!\w)", other, sentence)
                yield Case("quotation", "right", sentence, text, title, "en", half)
                if swapped != sentence:
                    yield Case("quotation", "altered", swapped, text, title, "en", half)


def altered(folder: Path, language: str) -> Iterator[Case]:
    """Yield statements with a number in the answer, with their passage as it is and altered."""
    corpus, queries = records(folder, "corpus"), records(folder, "queries")
    for id_, record in records(folder, "answers").items():
        number = re.search(r"\d+", record["answers"][0])
        if not number:
            continue
        first = str((int(number[0][0]) + 3) % 9 + 1)
        document = corpus[record["doc"]]
        text, title = document["text"], document["title"].replace("_", " ")
        changed = re.sub(rf"(?<!\d){number[0]}(?!\d)", first + number[0][1:], text)
        claim = statement(queries[id_]["text"], record["answers"][0])
        kind = f"number in {language}"
        yield Case(kind, "right", claim, text, title, language, half_of(id_))
        if changed != text:
            yield Case(kind, "altered", claim, changed, title, language, half_of(id_))


NUMBER = re.compile(r"(?<![\d.,])\d+(?![\d.,]*\d)")


def elsewhere(folder: Path, language: str) -> Iterator[Case]:
    """Yield statements with their own number, and with one that the passage says of something else.

    The passages are long: three paragraphs of an article that follow each other.
    """
    corpus, queries = records(folder, "corpus"), records(folder, "queries")
    ids = sorted(corpus)
    for id_, record in records(folder, "answers").items():
        number = NUMBER.search(record["answers"][0])
        own = ids.index(record["doc"])
        near = [each for each in ids[max(0, own - 1) : own + 2] if each[:7] == record["doc"][:7]]
        text = "\n\n".join(corpus[each]["text"] for each in near)
        if not number:
            continue
        here = sentence_around(corpus[record["doc"]]["text"], record["start"])
        others = [
            other
            for other in NUMBER.findall(text.replace(here, ""))
            if len(other) == len(number[0]) and other not in here and other not in number[0]
        ]
        title = corpus[record["doc"]]["title"].replace("_", " ")
        kind, half = f"number from elsewhere in {language}", half_of(id_)
        claim = statement(queries[id_]["text"], record["answers"][0])
        yield Case(kind, "right", claim, text, title, language, half)
        if others:
            other = others[zlib.crc32(id_.encode()) % len(others)]
            answer = record["answers"][0].replace(number[0], other, 1)
            claim = statement(queries[id_]["text"], answer)
            yield Case(kind, "altered", claim, text, title, language, half)


NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-zäöü]{3,}\b(?! [A-Z])")
VERB = re.compile(r"\b(?:is|are|was|were|has been|had been|can|could|will|would|may|must)\b")


def falsified(folder: Path) -> Iterator[Case]:
    """Yield sentences of passages as they are, with another name in them, and denied."""
    corpus = records(folder, "corpus")
    texts = [(each["text"], each["title"].replace("_", " "), id_) for id_, each in corpus.items()]
    every = [name for text, *_ in texts for name in NAME.findall(text)]
    for position, (text, title, id_) in enumerate(texts):
        sentence = text.split(". ")[0].strip().rstrip(".") + "."
        half = half_of(id_)
        yield Case("sentence", "right", sentence, text, title, "en", half)
        if name := NAME.search(sentence):
            other = next(n for n in every[position * 7 % len(every) :] if n not in text)
            swapped = sentence[: name.start()] + other + sentence[name.end() :]
            yield Case("sentence, other name", "altered", swapped, text, title, "en", half)
        if verb := VERB.search(sentence):
            denied = f"{sentence[: verb.end()]} not{sentence[verb.end() :]}"
            yield Case("sentence, denied", "altered", denied, text, title, "en", half)
            passage = text.replace(sentence[:-1], denied[:-1])
            yield Case("sentence, denied there", "altered", sentence, passage, title, "en", half)


def translations(folder: Path, language: str, passages: Path) -> Iterator[Case]:
    """Yield sentences with the same passage in another language, and another of its article."""
    corpus, translated = records(folder, "corpus"), records(passages, "corpus")
    into = passages.name[-2:]
    ids = sorted(corpus)
    for id_, record in records(folder, "answers").items():
        text = corpus[record["doc"]]["text"]
        claim = sentence_around(text, record["start"])
        near = [each for each in ids if each != record["doc"] and each[:7] == record["doc"][:7]]
        other = near[zlib.crc32(id_.encode()) % len(near)]
        for document, truth in right_and_wrong(record["doc"], other):
            found = translated[f"{into}-{document.partition('-')[2]}"]
            title = found["title"].replace("_", " ")
            kind = f"sentence {language} → {into}"
            yield Case(kind, truth, claim, found["text"], title, into, half_of(id_))


def sentence_around(text: str, place: int) -> str:
    """Return the sentence at a place of a text, roughly."""
    ends = [0, *(found.end() for found in re.finditer(r"[.!?؟] +|[。！？]", text)), len(text)]
    start = max(end for end in ends if end <= place)
    return text[start : min(end for end in ends if end > place)].strip()


def sentence_with(text: str, value: str) -> str:
    """Return the first sentence that has a value in it."""
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    if not found:
        return ""
    ends = (end.end() for end in re.finditer(r"[.!?] (?=[A-Z])", text[: found.start()]))
    start = max(ends, default=0)
    end = re.search(r"[.!?](?: |$)", text[found.end() :])
    return text[start : found.end() + (end.end() if end else 0)].strip()


def right_and_wrong(own: str, other: str) -> tuple[tuple[str, Truth], tuple[str, Truth]]:
    """Return a document that says so, and one that does not."""
    return (own, "right"), (other, "wrong")


def questions(folder: Path, language: str, passages: Path | None = None) -> Iterator[Case]:
    """Yield statements against the passage that answers, and another of the same article.

    With `passages` those are of another set, whose documents are numbered alike.
    """
    corpus = records(passages or folder, "corpus")
    queries, answers = records(folder, "queries"), records(folder, "answers")
    into = passages.name[-2:] if passages else language
    ids = sorted(corpus)
    for id_, record in answers.items():
        own = f"{into}-{record['doc'].partition('-')[2]}"
        near = [each for each in ids if each != own and each[:7] == own[:7]]
        other = near[zlib.crc32(id_.encode()) % len(near)]
        claim = statement(queries[id_]["text"], record["answers"][0])
        kind = f"{language} → {into}" if passages else language
        for document, truth in right_and_wrong(own, other):
            text, title = corpus[document]["text"], corpus[document]["title"].replace("_", " ")
            yield Case(kind, truth, claim, text, title, into, half_of(id_))


def hotpot(folder: Path) -> Iterator[Case]:
    """Yield statements whose evidence is parted between two passages, and of neither."""
    corpus, queries = records(folder, "corpus"), records(folder, "queries")
    ids = sorted(corpus)
    evidence: dict[str, list[str]] = {}
    with (folder / "evidence.jsonl").open(encoding="utf-8") as lines:
        for each in map(json.loads, lines):
            evidence.setdefault(each["_id"], []).append(each["doc"])
    for id_, record in records(folder, "answers").items():
        claim = statement(queries[id_]["text"], record["answers"][0])
        if record["answers"][0] in ("yes", "no"):
            continue
        own = dict.fromkeys(evidence[id_])
        text = "\n".join(corpus[each]["text"] for each in own)
        title = ", ".join(corpus[each]["title"] for each in own)
        other = corpus[ids[zlib.crc32(id_.encode()) % len(ids)]]
        yield Case("hotpotqa", "right", claim, text, title, "en", half_of(id_))
        yield Case("hotpotqa", "wrong", claim, other["text"], other["title"], "en", half_of(id_))
