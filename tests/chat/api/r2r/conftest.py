"""Clients of the R2R dialect, as their makers have them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import pytest

from tests.chat.api.conftest import Live
from tests.chat.api.r2r import sdk

Connect = Callable[..., Any]


@pytest.fixture
def connect(live: Live) -> Iterator[Connect]:
    """Return a function that makes a client, of whoever a token is of."""
    with ExitStack() as stack:

        def make(token: str | None = None, base: str = "/r2r") -> Any:
            client = sdk.R2RClient(f"{live.base_url}{base}", timeout=20)
            stack.callback(client.client.close)
            if token:
                client.set_api_key(token)
            return client

        yield make


@pytest.fixture
def client(live: Live, connect: Connect) -> Any:
    """Return ada's client."""
    return connect(live.token)


@pytest.fixture
def other(live: Live, connect: Connect) -> Any:
    """Return the client of bob, who may only read."""
    return connect(live.other_token)


@pytest.fixture
def as_it_was(live: Live) -> Iterator[None]:
    """Leave the site to the next test as it was, whatever became of this one."""
    yield
    from chat.models import Conversation  # noqa: PLC0415
    from retrieval.models import Collection, Document  # noqa: PLC0415

    own = [each.pk for each in live.documents.values()]
    Document.with_deleted.exclude(pk__in=own).delete()
    Collection.objects.exclude(pk=live.collection.pk).delete()
    Conversation.with_deleted.all().delete()


def add(live: Live, client: Any, **about: Any) -> UUID:
    """Return the id of a document that is added and ready."""
    taken = client.documents.create(collection_ids=[live.collection.pk], **about).results
    live.ingest()
    return taken.document_id  # type: ignore[no-any-return]


def refused(call: Any, *given: Any, **named: Any) -> tuple[int, str]:
    """Return the status and the message of what a call is refused with."""
    with pytest.raises(sdk.R2RException) as error:
        call(*given, **named)
    return error.value.status_code, error.value.message
