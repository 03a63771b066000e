"""What runs of answers leave to be done in the background."""

import asyncio


async def settled() -> None:
    """Wait until nothing is left to do, which the end of the event loop would cut short."""
    from chat import active  # noqa: PLC0415 - the apps are loaded only now

    while active._tasks:
        await asyncio.gather(*active._tasks)
