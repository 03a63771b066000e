from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from tests.chat.api.conftest import WAIT_SECONDS, Live


@pytest.fixture(scope="module")
def sdk(live: Live) -> Iterator[openai.OpenAI]:
    """Return the SDK as people have it."""
    address = f"{live.base_url}/openai/v1"
    with openai.OpenAI(base_url=address, api_key=live.token, timeout=WAIT_SECONDS) as client:
        yield client


@pytest.fixture(scope="module")
def guide(live: Live) -> str:
    """Return the name of an assistant that everyone may use."""
    from chat.models import Assistant  # noqa: PLC0415

    assistant = Assistant.objects.create(name="Tour Guide", is_default=True)
    assistant.record_version()
    return assistant.name
