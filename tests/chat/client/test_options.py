"""What is wrong before anything is sent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chat.client import AsyncRagClient, BadRequestError, RagClient

SITE = "http://localhost:9"


@pytest.mark.parametrize("address", ["nonsense", "localhost:8000", "http://", "ftp://x", "", None])
def test_what_is_no_address_is_refused_at_once(address: Any) -> None:
    with pytest.raises(BadRequestError, match="is no address of a site"):
        RagClient(address, "rs_x")


@pytest.mark.parametrize("token", ["rs_x\n", "rs x", "", "rs_ä", None])
def test_what_is_no_token_is_refused_at_once(token: Any) -> None:
    with pytest.raises(BadRequestError, match="The token"):
        RagClient(SITE, token)


@pytest.mark.parametrize("metadata", [[1], "x", {"a": {1}}])
async def test_metadata_is_a_dictionary_of_json(metadata: Any) -> None:
    async with AsyncRagClient(SITE, "rs_x") as client:
        with pytest.raises(BadRequestError, match="metadata has to be"):
            await client.upload(Path("x.txt"), collection="x", metadata=metadata)


@pytest.mark.parametrize("limit", ["x", None, 0, 1.5])
def test_a_limit_of_steps_is_a_number(limit: Any) -> None:
    with RagClient(SITE, "rs_x") as client, pytest.raises(BadRequestError, match="recursion_limit"):
        list(client.stream("Why?", recursion_limit=limit))


def test_all_of_it_can_be_imported_without_django() -> None:
    code = "import sys; from chat.client import *; assert RagClient and 'django' not in sys.modules"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env={})
