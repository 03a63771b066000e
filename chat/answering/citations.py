"""The answer as it grows: tokens with canonical markers, and a citation frame behind each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from chat.answering.grounding import supporting_sentence
from chat.answering.markers import MarkerParser, Piece
from chat.frames import Citation, CitationData, Source, Token
from retrieval.backends.base import Passage, Sentence

MARKER = re.compile(r"\[\d+\]")


@dataclass
class CitedAnswer:
    """Turns generated text into token and citation frames.

    `sources[i]` describes `passages[i]`; a passage's own index is what its markers say. Where a
    passage was merged from several chunks, `locate` says which one holds an offset of its text, and
    `place` where a part of its text stands in that of its document's version.
    """

    passages: Sequence[Passage]
    sources: Sequence[Source]
    locate: Callable[[int, int], Source] | None = None
    place: Callable[[int, int, int], tuple[int, int] | None] | None = None
    text: str = ""
    citations: list[CitationData] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._known = {
            passage.index: (passage, source)
            for passage, source in zip(self.passages, self.sources, strict=True)
        }
        self._parser = MarkerParser(self._known)
        self._claim = ""  # the answer without markers, for finding the supporting sentence

    @property
    def removed_markers(self) -> int:
        """How many numbers were removed because no passage has them."""
        return self._parser.removed

    def feed(self, text: str) -> Iterator[Token | Citation]:
        """Yield the frames of a piece of generated text."""
        yield from self._frames(self._parser.feed(text))

    def finish(self) -> Iterator[Token | Citation]:
        """Yield the frames of what was held back."""
        yield from self._frames(self._parser.finish())

    def whereabouts(self, index: int, sentence: Sentence) -> tuple[Source, tuple[int, int] | None]:
        """Return the source that holds a sentence of passage `index`, and the sentence's place."""
        source = self.locate(index, sentence.start) if self.locate else self._known[index][1]
        return source, self.place(index, sentence.start, sentence.end) if self.place else None

    def _frames(self, pieces: list[Piece]) -> Iterator[Token | Citation]:
        for piece in pieces:
            if isinstance(piece, str):
                self.text += piece
                self._claim += piece
                yield Token(text=piece)
            else:
                yield from self._cite(piece)

    def _cite(self, index: int) -> Iterator[Token | Citation]:
        passage, source = self._known[index]
        marker = f"[{index}]"
        start = len(self.text)
        self.text += marker
        yield Token(text=marker)
        sentence = supporting_sentence(self._claim, passage)
        is_new = all(citation.index != index for citation in self.citations)
        if sentence:
            source, place = self.whereabouts(index, sentence)
        else:
            place = None
        citation = CitationData(
            index=index,
            source_type=source.source_type,
            source_id=source.source_id,
            document_id=source.document_id,
            title=source.title,
            page=source.page,
            quote=sentence.text if sentence else source.snippet,
            place=place,
            span=(start, start + len(marker)),
        )
        self.citations.append(citation)
        yield Citation(**citation.model_dump(), is_new=is_new, source=source if is_new else None)


def without_markers(answer: str) -> str:
    """Return a stored answer's text without its markers: they mean nothing in another prompt."""
    return MARKER.sub("", answer)
