"""Which backends there are: from the environment, from settings, and what the checks say."""

import environ
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from ragsite.backends import from_environment
from retrieval import backends
from retrieval.backends import base, e5_weights
from retrieval.checks import check_backends
from tests import fakes


def chosen(**variables: str) -> dict[str, dict]:
    env = environ.Env()
    env.ENVIRON = variables
    return from_environment(env)


def classes(**variables: str) -> list[str | None]:
    return [
        config["BACKEND"] and config["BACKEND"].rpartition(".")[2]
        for role, config in chosen(**variables).items()
        if role != "fallback"
    ]


LOCAL = ["OnnxEmbedder", "LocalReranker"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, [*LOCAL, "ExtractiveGenerator"]),
        ({"OPENAI_API_KEY": "k"}, [*LOCAL, "OpenAIGenerator"]),
        ({"COHERE_API_KEY": "k"}, [*LOCAL, "CohereGenerator"]),
        ({"OPENAI_BASE_URL": "u"}, [*LOCAL, "ExtractiveGenerator"]),
        ({"OPENAI_BASE_URL": "u", "CHAT_MODEL": "m"}, [*LOCAL, "OpenAIGenerator"]),
        ({"OPENAI_API_KEY": "k", "GENERATOR": "extractive"}, [*LOCAL, "ExtractiveGenerator"]),
        (
            {"EMBEDDER": "openai", "RERANKER": "none", "GENERATOR": "Cohere"},
            ["OpenAIEmbedder", None, "CohereGenerator"],
        ),
        (
            {"EMBEDDER": "cohere", "RERANKER": "cohere"},
            ["CohereEmbedder", "CohereReranker", "ExtractiveGenerator"],
        ),
        (
            {"RERANKER": "cohere", "RERANK_BASE_URL": "u"},
            ["OnnxEmbedder", "ServerReranker", "ExtractiveGenerator"],
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_the_environment_chooses(variables, expected):
    assert classes(**variables) == expected


def test_models_keys_and_addresses_reach_the_backends():
    options = chosen(
        EMBEDDER="openai",
        EMBEDDING_MODEL="nomic-embed-text",
        CHAT_MODEL="llama3",
        OPENAI_BASE_URL="http://localhost:11434/v1",
        RERANKER="cohere",
        COHERE_API_KEY="c",
    )
    assert options["embedder"]["OPTIONS"]["model"] == "nomic-embed-text"
    assert options["generator"]["OPTIONS"] == {
        "model": "llama3",
        "api_key": "",
        "base_url": "http://localhost:11434/v1",
    }
    assert options["reranker"]["OPTIONS"]["api_key"] == "c"


@pytest.mark.parametrize("variable", ["EMBEDDER", "RERANKER", "GENERATOR"])
def test_an_unknown_value_is_named_with_those_allowed(variable):
    with pytest.raises(
        ImproperlyConfigured, match=rf"{variable}=chatty .* can be \w+, cohere|openai"
    ):
        chosen(**{variable: "chatty"})


@pytest.mark.parametrize("role", ["embedder", "reranker", "generator"])
@pytest.mark.parametrize("vendor", ["onnx local extractive", "openai cohere openai", "cohere " * 3])
def test_every_backend_can_be_made_and_has_its_role(role, vendor):
    names = dict(zip(("EMBEDDER", "RERANKER", "GENERATOR"), vendor.split(), strict=True))
    roles = {
        "embedder": base.Embedder,
        "reranker": base.Reranker,
        "generator": base.Generator,
    }
    with override_settings(RAG_BACKENDS=chosen(**names)):
        assert isinstance(getattr(backends, role)(), roles[role])


def test_a_backend_is_made_once_and_anew_when_settings_change():
    with override_settings(RAG_BACKENDS={"embedder": {"BACKEND": "tests.fakes.HashEmbedder"}}):
        first = backends.embedder()
        assert isinstance(first, fakes.HashEmbedder)
        assert backends.embedder() is first
    assert backends.embedder() is not first


def test_no_reranker():
    with override_settings(RAG_BACKENDS=chosen(RERANKER="none")):
        assert backends.reranker() is None
        assert check_backends() == []


@pytest.mark.parametrize(
    ("variables", "ids", "hint"),
    [
        ({}, [], ""),
        ({"GENERATOR": "openai"}, ["retrieval.E004"], "OPENAI_API_KEY"),
        ({"RERANKER": "cohere"}, ["retrieval.E004"], "COHERE_API_KEY"),
        ({"EMBEDDER": "openai", "OPENAI_BASE_URL": "u"}, [], ""),
        (
            {"EMBEDDER": "openai", "OPENAI_BASE_URL": "u", "EMBEDDING_MODEL": "mine"},
            ["retrieval.W001"],
            "EMBEDDING_DIMENSIONS",
        ),
    ],
)
def test_checks_say_what_is_missing(variables, ids, hint):
    with override_settings(RAG_BACKENDS=chosen(**variables)):
        found = check_backends()
    assert [message.id for message in found] == ids
    assert all(hint in message.hint for message in found)


def test_without_the_wheel_the_check_names_embedder(monkeypatch):
    monkeypatch.setattr(e5_weights, "find", lambda: None)
    with override_settings(RAG_BACKENDS=chosen()):
        (found,) = check_backends()
    assert "EMBEDDER=openai" in found.hint


def test_a_class_that_cannot_be_loaded_is_an_error():
    with override_settings(RAG_BACKENDS=chosen() | {"generator": {"BACKEND": "no.such.Thing"}}):
        assert [message.id for message in check_backends()] == ["retrieval.E003"]


def test_there_is_no_fallback_unless_one_is_chosen():
    assert chosen(OPENAI_API_KEY="k")["fallback"]["BACKEND"] is None


def test_what_the_fallback_does_not_say_is_the_first_ones():
    entry = chosen(OPENAI_API_KEY="k", FALLBACK_GENERATOR="openai", FALLBACK_CHAT_MODEL="small")
    assert entry["fallback"]["OPTIONS"] == {"model": "small", "api_key": "k", "base_url": ""}
