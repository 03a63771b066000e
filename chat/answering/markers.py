"""Finding citation markers in a stream of markdown, wherever the pieces are cut.

`[1]`, `[1, 2]`, `[1-3]`, `【1】` and `[[1]]` are markers. What cannot be meant as one stays as it
is: years (`[2024]`), index access (`a[1]`), and anything in code, maths, links, addresses and link
definitions. A number that no passage has is removed.
"""

from __future__ import annotations

import re
from collections.abc import Collection

# Numbers above this are years and quantities, not passages.
LARGEST_MARKER = 99
WIDEST_RANGE = 20
# How far a bracket, or maths with a bracket in it, may reach while we wait for its end.
LONGEST_BRACKET = 300

MATHS = {"$$": "$$", "\\(": "\\)", "\\[": "\\]"}
OPENING = frozenset("[【［")
CLOSING = {"[": "]", "【": "】", "［": "］", "(": ")"}
SPECIAL = re.compile(r"[\n`$\\\[【［]")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
NUMBERS = re.compile(r"\s*\d{1,3}(?:\s*(?:[,;、，-]|[–—]|\s)\s*\d{1,3})*\s*")
PART = re.compile(r"(\d+)(?:\s*[-–—]\s*(\d+))?")
DESTINATION = re.compile(
    r"""\(\s*(?:<[^>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+["'(][^\n]*?["')])?\s*\)"""
)
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*$")
SEQUENCE_NAMES = {"arr", "array", "args", "argv", "data", "items", "list", "row", "rows", "vec"}
ADDRESS = re.compile(r"(?:://|^www\.)")

Piece = str | int


class MarkerParser:
    """Takes text as it comes; gives back text, and markers as the numbers of their passages."""

    def __init__(self, known: Collection[int]) -> None:
        self.known = frozenset(known)
        self.removed = 0
        self._buffer = ""
        self._spaces = ""  # held back: they go with a marker that is removed
        self._line = ""  # what of the current line was given back
        self._fence = ""  # the run of backticks or tildes that opened a code block
        self._code = ""  # the run of backticks that opened a code span
        self._math = ""  # what will close the maths we are in
        self._reference = False  # right behind a bracket that is no marker
        self._pieces: list[Piece] = []

    def feed(self, text: str) -> list[Piece]:
        """Return what can be decided now; the rest is held back for the next call."""
        return self._scan(text, final=False)

    def finish(self) -> list[Piece]:
        """Return what was held back."""
        return self._scan("", final=True)

    def _scan(self, text: str, *, final: bool) -> list[Piece]:
        self._buffer += text
        while self._buffer and self._take(final=final):
            pass
        if final:
            self._give(0)
        pieces, self._pieces = self._pieces, []
        return pieces

    def _take(self, *, final: bool) -> bool:
        """Handle what the buffer starts with; False if it has to wait for more."""
        special = SPECIAL.search(self._buffer)
        plain = special.start() if special else len(self._buffer)
        if plain:
            self._give(plain)
        elif self._buffer[0] == "\n":
            self._end_line()
            self._give(1)
        elif self._fence:
            self._give(1)
        elif self._buffer[0] == "`":
            return self._take_backticks(final=final)
        elif self._code:
            self._give(1)
        elif self._buffer[0] in "$\\":
            return self._take_maths(final=final)
        else:
            return self._take_bracket(final=final)
        return True

    def _give(self, size: int) -> bool:
        """Move that much of the buffer to the pieces, without the spaces at its end."""
        text = self._spaces + self._buffer[:size]
        self._buffer = self._buffer[size:]
        given = text.rstrip(" ") if size else text
        self._spaces = text[len(given) :]
        if given:
            self._line = (self._line + given).rpartition("\n")[2]
            self._reference = False
            if self._pieces and isinstance(self._pieces[-1], str):
                self._pieces[-1] += given
            else:
                self._pieces.append(given)
        return True

    def _end_line(self) -> None:
        fence = FENCE.match(self._line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and self._line.strip() == fence[1]:
                self._fence = ""
        elif fence:
            self._fence, self._code, self._math = fence[1], "", ""
        elif not self._line.strip():
            self._code = self._math = ""
        elif self._math == "$":
            self._math = ""

    def _take_backticks(self, *, final: bool) -> bool:
        size = len(self._buffer) - len(self._buffer.lstrip("`"))
        if size == len(self._buffer) and not final:
            return False
        run = self._buffer[:size]
        if not self._code:
            self._code = run
        elif self._code == run:
            self._code = ""
        return self._give(size)

    def _take_maths(self, *, final: bool) -> bool:
        pair = self._buffer[:2]
        if len(pair) == 1 and not final:
            return False
        if self._math and pair.startswith(self._math):
            size = len(self._math)
            self._math = ""
            return self._give(size)
        if not self._math and pair in MATHS:
            self._math = MATHS[pair]
            return self._give(2)
        if not self._math and pair[0] == "$" and self._opens_maths(pair[1:]):
            self._math = "$"
        return self._give(1 if pair[0] == "$" else len(pair))

    def _opens_maths(self, after: str) -> bool:
        """Whether a `$` opens maths: `$5` is money, `US$` a currency."""
        glued = self._line[-1:].isalnum() and not self._spaces
        return bool(after.strip()) and not after.isdigit() and not glued

    def _take_bracket(self, *, final: bool) -> bool:
        rest = self._buffer[:LONGEST_BRACKET].partition("\n")[0]
        ended = final or len(rest) < len(self._buffer)
        if self._math == "$" and not re.search(r"\S\$", rest):
            if not ended:
                return False
            self._math = ""  # it does not close: a lone dollar sign
        if self._math:
            return self._give(1)
        size = bracket_size(rest)
        if size is None:
            return self._give(1) if ended else False
        if size == len(self._buffer) and not final:
            return False
        if self._buffer[size : size + 1] == "(":
            return self._take_link(size, final=final)
        return self._take_closed(size)

    def _take_link(self, size: int, *, final: bool) -> bool:
        behind = self._buffer[size : size + LONGEST_BRACKET]
        line = behind.partition("\n")[0]
        length = bracket_size(line)
        if length is None and not final and line == behind and len(line) < LONGEST_BRACKET:
            return False
        if length and DESTINATION.fullmatch(line[:length]):
            return self._give(size + length)
        return self._take_closed(size)

    def _take_closed(self, size: int) -> bool:
        """Handle the bracket of `size` characters that the buffer starts with."""
        bracket, following = self._buffer[:size], self._buffer[size : size + 1]
        numbers = marker_numbers(bracket)
        definition = following == ":" and not self._line.strip()
        if numbers is None or definition or self._is_text():
            nested = numbers is None and any(mark in bracket[1:] for mark in OPENING)
            self._give(1 if nested else size)
            self._reference = not nested and not self._spaces
            return True
        known = [number for number in numbers if number in self.known]
        self.removed += len(numbers) - len(known)
        if known:
            self._give(0)
            self._pieces.extend(known)
            self._line += "]"
        elif not following.isalnum() and following not in OPENING:
            self._spaces = ""
        self._buffer = self._buffer[size:]
        return True

    def _is_text(self) -> bool:
        """Whether what stands before makes the bracket index access, an address or a reference."""
        if self._spaces:
            return False
        word = self._line.rpartition(" ")[2]
        if self._reference or ADDRESS.search(word):
            return True
        identifier = IDENTIFIER.search(word)
        return identifier is not None and is_index_access(identifier[0])


def bracket_size(text: str) -> int | None:
    """Return the length of the bracket that `text` starts with, brackets in it included."""
    opening, closing = text[0], CLOSING[text[0]]
    depth = 0
    for position, character in enumerate(text):
        if character == opening:
            depth += 1
        elif character == closing:
            depth -= 1
            if depth == 0:
                return position + 1
    return None


def marker_numbers(bracket: str) -> list[int] | None:
    """Return the numbers a bracket names, in order, or None if it cannot be meant as a marker."""
    inner = bracket[1:-1]
    if inner.startswith("[") and inner.endswith("]"):
        inner = inner[1:-1]
    if bracket[0] == "【":
        inner = inner.partition("†")[0]
    if not NUMBERS.fullmatch(inner):
        return None
    numbers: list[int] = []
    for first, last in PART.findall(inner):
        low, high = int(first), int(last or first)
        if max(low, high) > LARGEST_MARKER or not 0 <= high - low <= WIDEST_RANGE:
            return None
        numbers.extend(range(low, high + 1))
    return list(dict.fromkeys(numbers))


def is_index_access(identifier: str) -> bool:
    """Whether `identifier[1]` reads as code rather than as a word with a marker."""
    name = identifier.rpartition(".")[2]
    return (
        len(name) == 1
        or name in SEQUENCE_NAMES
        or "_" in name
        or re.search(r"[a-z][A-Z]|[A-Za-z]\d", name) is not None
    )
