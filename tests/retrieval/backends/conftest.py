"""The provider that the tests of vendors talk to."""

from tests.provider import provider

__all__ = ["provider"]
