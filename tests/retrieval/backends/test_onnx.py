"""The bundled embedding model: as good as its weights, and in nobody's way."""

import asyncio

import numpy as np
import onnxruntime
import pytest
from django.conf import settings

from retrieval.backends import e5_convert, e5_graph, e5_weights
from retrieval.backends.onnx import OnnxEmbedder

TEXTS = [
    "The lighthouse was built in 1871.",
    "Der Leuchtturm wurde im Jahr 1871 gebaut.",
    "灯塔建于1871年。",
    "بنيت المنارة عام 1871.",
    "A recipe for pancakes: flour, eggs, milk, a pinch of salt; fry on both sides. " * 8,
    "The parliament passed the budget for the coming year after a long debate.",
]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    made = OnnxEmbedder()
    made.prepare()
    return made


async def test_vectors_have_length_one_and_one_row_a_text(embedder):
    vectors = await embedder.embed_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert (await embedder.embed_passages([])).shape == (0, 384)


async def test_integers_are_as_good_as_floats(embedder, tmp_path):
    exact = e5_graph.build(e5_weights.Weights(e5_weights.find()), quantised=False)
    reference = OnnxEmbedder()
    reference.tokenizer = embedder.tokenizer
    reference._session = onnxruntime.InferenceSession(
        exact.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    cosines = (await reference.embed_passages(TEXTS) * await embedder.embed_passages(TEXTS)).sum(1)
    assert cosines.min() > 0.995


async def test_meaning_crosses_languages(embedder):
    passages = await embedder.embed_passages(TEXTS)
    scores = passages @ await embedder.embed_query("When was the lighthouse built?")
    assert set(np.argsort(-scores)[:4]) == {0, 1, 2, 3}
    assert np.argmax(scores) == 0


async def test_padding_does_not_change_a_vector_much(embedder):
    alone = (await embedder.embed_passages(TEXTS[:1]))[0]
    beside = (await embedder.embed_passages([TEXTS[0], TEXTS[4]]))[0]
    assert alone @ beside > 0.995


async def test_the_loop_goes_on_while_passages_are_embedded(embedder):
    work = asyncio.create_task(embedder.embed_passages(TEXTS * 10))
    await embedder.embed_query("in between")
    assert not work.done()
    assert (await work).shape == (60, 384)


async def test_long_texts_are_cut(embedder):
    assert (await embedder.embed_query("word " * 5000)).shape == (384,)


def test_tokens_are_those_of_the_model(embedder):
    assert embedder.tokenizer.encode("Hello  world\n").tokens == ["<s>", "▁Hello", "▁world", "</s>"]
    assert embedder.count_tokens("Hello world") == 2
    assert embedder.tokenizer.encode("灯塔").tokens[1:-1] != []


def test_damaged_files_are_written_anew(embedder, tmp_path, monkeypatch):
    graph = e5_graph.build(e5_weights.Weights(e5_weights.find()))
    monkeypatch.setattr(e5_graph, "build", lambda weights: graph)
    model, tokenizer = e5_convert.prepare(tmp_path)
    size, written = model.stat().st_size, tokenizer.stat().st_mtime_ns
    e5_convert.prepare(tmp_path)
    assert tokenizer.stat().st_mtime_ns == written
    model.write_bytes(b"half")
    e5_convert.prepare(tmp_path)
    assert model.stat().st_size == size


def test_without_the_package_the_message_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(e5_weights, "find", lambda: None)
    with pytest.raises(FileNotFoundError, match="set EMBEDDER=openai"):
        e5_convert.prepare(tmp_path)


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "other.bin"
    path.write_bytes(bytes(200))
    with pytest.raises(ValueError, match="not a file of multilingual-e5-small"):
        e5_weights.Weights(path)


def test_files_go_where_models_are_kept(embedder):
    assert (settings.MODEL_DIR / e5_convert.MODEL).exists()
