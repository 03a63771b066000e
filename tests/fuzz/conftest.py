"""How much is tried: little in the suite, the same each time; more with FUZZ_SECONDS … or profiles.

HYPOTHESIS_PROFILE=long FUZZ_MESSAGES=1000000 FUZZ_SEED=7 pytest tests/fuzz
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, settings

CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
settings.register_profile(
    "suite", max_examples=60, deadline=None, derandomize=True, suppress_health_check=CHECKS
)
settings.register_profile("long", max_examples=20_000, deadline=None, suppress_health_check=CHECKS)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


@pytest.fixture
def chance() -> random.Random:
    """Return what decides what is tried."""
    return random.Random(int(os.environ.get("FUZZ_SEED", "6")))
