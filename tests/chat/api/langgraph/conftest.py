"""The real SDK, and an assistant that it asks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

from chat.models import Assistant
from tests.chat.api.conftest import Live


def sdk(live: Live, token: str | None, url: str | None = None) -> SyncLangGraphClient:
    """Return the SDK with a token; at another address of the site, if one is given."""
    return get_sync_client(url=f"{url or live.base_url}/langgraph", api_key=token)


@pytest.fixture(scope="module")
def assistant(live: Live) -> Assistant:
    made = Assistant.objects.create(name="Tower guide", greeting="Ask me.", is_default=True)
    made.record_version()
    return made


@pytest.fixture(scope="module")
def client(live: Live, assistant: Assistant) -> Iterator[SyncLangGraphClient]:
    with sdk(live, live.token) as client:
        yield client


@pytest.fixture(scope="module")
def stranger(live: Live, assistant: Assistant) -> Iterator[SyncLangGraphClient]:
    """Return the client of somebody else."""
    with sdk(live, live.other_token) as client:
        yield client


@pytest.fixture
async def aclient(live: Live, assistant: Assistant) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=f"{live.base_url}/langgraph", api_key=live.token) as client:
        yield client


@pytest.fixture
def thread(client: SyncLangGraphClient) -> str:
    return client.threads.create()["thread_id"]
