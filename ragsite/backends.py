"""Choose the embedder, the reranker and the generator from the environment.

Imported by settings: nothing here may need Django to be configured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from collections.abc import Collection

    import environ

ALLOWED = {
    "EMBEDDER": ("onnx", "openai", "cohere"),
    "RERANKER": ("local", "cohere", "none"),
    "GENERATOR": ("extractive", "openai", "cohere"),
    "FALLBACK_GENERATOR": ("none", "extractive", "openai", "cohere"),
}
CLASSES = {
    ("EMBEDDER", "onnx"): "retrieval.backends.onnx.OnnxEmbedder",
    ("EMBEDDER", "openai"): "retrieval.backends.openai.OpenAIEmbedder",
    ("EMBEDDER", "cohere"): "retrieval.backends.cohere.CohereEmbedder",
    ("RERANKER", "local"): "retrieval.backends.local_rerank.LocalReranker",
    ("RERANKER", "cohere"): "retrieval.backends.cohere.CohereReranker",
    ("GENERATOR", "extractive"): "retrieval.backends.extractive.ExtractiveGenerator",
    ("GENERATOR", "openai"): "retrieval.backends.openai.OpenAIGenerator",
    ("GENERATOR", "cohere"): "retrieval.backends.cohere.CohereGenerator",
}
# Takes Cohere's place where RERANK_BASE_URL names a server that speaks like it.
RERANK_SERVER = "retrieval.backends.rerank_server.ServerReranker"
MODELS = {
    ("EMBEDDER", "openai"): "text-embedding-3-small",
    ("EMBEDDER", "cohere"): "embed-v4.0",
    ("RERANKER", "cohere"): "rerank-v3.5",
    ("GENERATOR", "openai"): "gpt-4.1-mini",
    ("GENERATOR", "cohere"): "command-a-03-2025",
}
MODEL_VARIABLES = {
    "EMBEDDER": "EMBEDDING_MODEL",
    "RERANKER": "RERANK_MODEL",
    "GENERATOR": "CHAT_MODEL",
}


def from_environment(env: environ.Env) -> dict[str, dict[str, Any]]:
    """Return `RAG_BACKENDS`: for each role its class's dotted path and that class's options.

    Raises ImproperlyConfigured, naming the variable, for a value that is not known.
    """
    return {
        "embedder": backend(env, "EMBEDDER", choose(env, "EMBEDDER", "onnx")),
        "reranker": backend(env, "RERANKER", choose(env, "RERANKER", "local")),
        "generator": backend(env, "GENERATOR", choose(env, "GENERATOR", default_generator(env))),
        "fallback": fallback(env, choose(env, "FALLBACK_GENERATOR", "none")),
    }


def embedders(env: environ.Env) -> dict[str, dict[str, Any]]:
    """Return an entry for every embedder there is, whichever is chosen.

    Documents may still be embedded by another one than the chosen one, or be about to be.
    """
    chosen = choose(env, "EMBEDDER", "onnx")
    entries = {name: backend(env, "EMBEDDER", name) for name in ALLOWED["EMBEDDER"]}
    for name, entry in entries.items():
        if name not in (chosen, "onnx"):  # what the environment says is about the chosen one
            entry["OPTIONS"] |= {
                "model": MODELS["EMBEDDER", name],
                "dimensions": 0,
                "max_tokens": 0,
                "query_prefix": None,
                "passage_prefix": None,
            }
    return entries


def choose(env: environ.Env, variable: str, default: str) -> str:
    """Return what `variable` says, or the default if it says nothing."""
    chosen = env.str(variable, default="").strip().lower() or default
    allowed: Collection[str] = ALLOWED[variable]
    if chosen not in allowed:
        raise ImproperlyConfigured(
            f"{variable}={chosen} is not known; it can be {', '.join(allowed)}."
        )
    return chosen


def default_generator(env: environ.Env) -> str:
    """Return the provider there is a key (or a server and a model) for, else `extractive`."""
    server = env.str("OPENAI_BASE_URL", default="") and env.str("CHAT_MODEL", default="")
    if server or env.str("OPENAI_API_KEY", default=""):
        return "openai"
    return "cohere" if env.str("COHERE_API_KEY", default="") else "extractive"


def backend(env: environ.Env, variable: str, chosen: str) -> dict[str, Any]:
    """Return one role's entry; `BACKEND` is None when the role is turned off."""
    options: dict[str, Any] = {}
    if chosen in ("openai", "cohere"):
        options["model"] = (
            env.str(MODEL_VARIABLES[variable], default="") or MODELS[variable, chosen]
        )
        options["api_key"] = env.str(f"{chosen.upper()}_API_KEY", default="")
        options["base_url"] = env.str(f"{chosen.upper()}_BASE_URL", default="")
    server = env.str("RERANK_BASE_URL", default="")
    if variable == "RERANKER" and chosen == "cohere" and server:
        options["base_url"] = server
        return {"BACKEND": RERANK_SERVER, "OPTIONS": options}
    if variable == "EMBEDDER" and chosen in ("openai", "cohere"):
        options["dimensions"] = env.int("EMBEDDING_DIMENSIONS", default=0)
        options["max_tokens"] = env.int("EMBEDDING_MAX_TOKENS", default=0)
        options["query_prefix"] = env.str("EMBEDDING_QUERY_PREFIX", default=None)
        options["passage_prefix"] = env.str("EMBEDDING_PASSAGE_PREFIX", default=None)
    return {"BACKEND": CLASSES.get((variable, chosen)), "OPTIONS": options}


def fallback(env: environ.Env, chosen: str) -> dict[str, Any]:
    """Return the entry of the generator that takes over when the first one fails.

    What FALLBACK_CHAT_MODEL, FALLBACK_API_KEY and FALLBACK_BASE_URL do not say is the first one's.
    """
    entry = backend(env, "GENERATOR", chosen)
    for option, variable in (
        ("model", "FALLBACK_CHAT_MODEL"),
        ("api_key", "FALLBACK_API_KEY"),
        ("base_url", "FALLBACK_BASE_URL"),
    ):
        if option in entry["OPTIONS"] and (said := env.str(variable, default="")):
            entry["OPTIONS"][option] = said
    return entry
