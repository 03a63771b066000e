"""A generator that fails is tried again while nothing was seen, and then the fallback answers."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
from pytest_django import Settings

from chat.answering.retries import stream
from chat.frames import WarningFrame
from retrieval import backends
from retrieval.backends.base import BackendError, Delta, GenerationRequest, Query

REQUEST = GenerationRequest(messages=(), question=Query("?", ()), passages=())


class Failing:
    """A generator that fails as often as `faults` has one, then answers."""

    model = "failing"
    quotes_only = False

    def __init__(self) -> None:
        self.faults: list[BackendError] = []
        self.text = "Yes."
        self.calls = 0
        self.model_asked: str | None = None

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        self.calls += 1
        self.model_asked = request.model
        if self.faults:
            raise self.faults.pop(0)
        yield Delta(self.text)
        yield Delta(finish_reason="stop")


def fault(code: str = "provider_error", *, retryable: bool = True) -> BackendError:
    return BackendError("It failed.", retryable, code=code)


@pytest.fixture
def generators(settings: Settings) -> tuple[Failing, Failing]:
    """Return the first generator and the fallback."""
    path = f"{__name__}.Failing"
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {
        "generator": {"BACKEND": path},
        "fallback": {"BACKEND": path},
    }
    first, second = backends.generator(), backends.fallback()
    assert type(first).__name__ == type(second).__name__ == "Failing"
    return first, second  # type: ignore[return-value]


async def read() -> tuple[str, list[str]]:
    """Return the text, and the codes of the warnings."""
    pieces = [piece async for piece in stream(REQUEST)]
    text = "".join(piece.text for piece in pieces if isinstance(piece, Delta))
    return text, [piece.code for piece in pieces if isinstance(piece, WarningFrame)]


async def test_a_fault_that_may_pass_is_a_warning_and_another_attempt(
    generators: tuple[Failing, Failing],
) -> None:
    generators[0].faults = [fault("rate_limited"), fault()]
    assert await read() == ("Yes.", ["rate_limited", "provider_error"])


async def test_the_warning_says_which_attempt_failed_and_how_long_the_wait_is(
    generators: tuple[Failing, Failing],
) -> None:
    generators[0].faults = [BackendError("Slow down.", True, code="rate_limited", retry_after=3)]
    warning = await anext(stream(REQUEST))
    assert isinstance(warning, WarningFrame)
    assert (warning.retry, warning.retry_in_ms) == (1, 3000)


async def test_the_fallback_answers_when_all_attempts_failed(
    generators: tuple[Failing, Failing],
) -> None:
    first, second = generators
    first.faults = [fault(), fault(), fault()]
    second.text = "From the other."
    assert await read() == ("From the other.", ["provider_error", "provider_error", "fallback"])


async def test_the_fallback_is_not_asked_for_another_provider_s_model(
    generators: tuple[Failing, Failing],
) -> None:
    first, second = generators
    first.faults = [fault() for _ in range(3)]
    async for _ in stream(replace(REQUEST, model="first-s-own")):
        pass
    assert (first.model_asked, second.model_asked) == ("first-s-own", None)


async def test_what_cannot_pass_is_not_tried_again(generators: tuple[Failing, Failing]) -> None:
    first, _ = generators
    first.faults = [fault("unauthorized", retryable=False)]
    assert await read() == ("Yes.", ["fallback"])
    assert first.calls == 1


async def test_what_the_fallback_would_be_told_too_is_not_asked_of_it(
    generators: tuple[Failing, Failing],
) -> None:
    generators[0].faults = [fault("content_filter", retryable=False)]
    with pytest.raises(BackendError):
        await read()
    assert generators[1].calls == 0


async def test_an_empty_answer_is_tried_again(generators: tuple[Failing, Failing]) -> None:
    first, second = generators
    first.text = " \n"
    assert await read() == ("Yes.", ["empty", "empty", "fallback"])
    assert (first.calls, second.calls) == (3, 1)


class Breaking(Failing):
    """A generator that breaks off in the middle."""

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[Delta]:
        self.calls += 1
        yield Delta("Half")
        raise fault("dropped")


async def test_nothing_is_tried_again_once_text_was_seen(
    generators: tuple[Failing, Failing], settings: Settings
) -> None:
    settings.RAG_BACKENDS = settings.RAG_BACKENDS | {
        "generator": {"BACKEND": f"{__name__}.Breaking"}
    }
    pieces = stream(REQUEST)
    assert await anext(pieces) == Delta("Half")
    with pytest.raises(BackendError):
        await anext(pieces)
    first = backends.generator()
    assert isinstance(first, Breaking)
    assert first.calls == 1
