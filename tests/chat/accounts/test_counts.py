"""Counting attempts together, and by oneself while Redis is away."""

import pytest

from chat.accounts.counts import SharedCounts
from tests.servers import Server, free_port


@pytest.fixture
def away() -> SharedCounts:
    return SharedCounts(f"redis://127.0.0.1:{free_port()}/0", {})


def test_a_process_counts_by_itself_while_redis_is_away(away: SharedCounts) -> None:
    assert away.add("lock", True, timeout=10)
    assert not away.add("lock", True, timeout=10)
    away.set("attempts", [1.0], 60)
    assert away.get("attempts", []) == [1.0]
    assert away.delete("lock")
    assert away.add("lock", True, timeout=10)


def test_processes_count_together_and_go_on_when_it_ends_and_comes_back(redis: Server) -> None:
    address = f"redis://127.0.0.1:{redis.port}/0"
    one, other = SharedCounts(address, {}), SharedCounts(address, {})
    one.set("attempts", [1.0], 60)
    assert other.get("attempts") == [1.0]

    redis.stop()
    other.set("attempts", [1.0, 2.0], 60)
    assert other.get("attempts") == [1.0, 2.0]

    redis.start()
    other.set("attempts", [3.0], 60)
    assert one.get("attempts") == [3.0]
