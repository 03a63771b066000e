"""What a load balancer is told."""

import asyncio
from typing import Any

import psycopg
import pytest
from django.test import AsyncClient

pytestmark = pytest.mark.django_db(transaction=True)


async def test_many_who_ask_at_once_share_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    connect, opened = psycopg.AsyncConnection.connect, []

    async def counted(**parameters: Any) -> Any:
        opened.append(parameters)
        return await connect(**parameters)

    monkeypatch.setattr(psycopg.AsyncConnection, "connect", counted)
    answers = await asyncio.gather(*(AsyncClient().get("/healthz") for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(opened) == 1
    assert (await AsyncClient().get("/healthz")).status_code == 200
    assert len(opened) == 2
