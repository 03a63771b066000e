"""Counting tokens for the generator."""

from pathlib import Path

from django.core.management import call_command
from django.core.management.base import SystemCheckError
from pytest import raises
from pytest_django import Settings
from tokenizers import Tokenizer, models, pre_tokenizers

from retrieval import backends
from retrieval.backends import tokens


def test_the_generators_own_tokenizer_counts(settings: Settings, tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"the": 0, "?": 1}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    settings.CHAT_TOKENIZER = str(tmp_path / "tokenizer.json")
    tokenizer.save(settings.CHAT_TOKENIZER)
    assert tokens.count("the unhurried embroiderers") == 3


def test_without_it_the_embedding_models_does(settings: Settings) -> None:
    settings.CHAT_TOKENIZER = ""
    text = "the unhurried embroiderers"
    assert tokens.count(text) == backends.embedder().count_tokens(text)


def test_a_tokenizer_that_cannot_be_read_is_reported(settings: Settings, tmp_path: Path) -> None:
    settings.CHAT_TOKENIZER = str(tmp_path / "none.json")
    with raises(SystemCheckError, match="CHAT_TOKENIZER"):
        call_command("check")
