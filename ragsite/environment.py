"""The process's environment with `.env` read into it, before anything else looks at it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent


class Environment(environ.Env):  # type: ignore[misc]
    """Reads variables, naming the one whose value cannot be read."""

    def get_value(self, var: str, *args: Any, **kwargs: Any) -> Any:
        """Return the variable's value; raises ImproperlyConfigured if it is of another type.

        One that begins with `$` is not another variable's name, as it is to the library: a secret
        may.
        """
        value = self.ENVIRON.get(var, "")
        if value.startswith("$"):
            return value
        try:
            return super().get_value(var, *args, **kwargs)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} cannot be read: {error}.") from error


env = Environment()
env.read_env(BASE_DIR / ".env")

# Read by onnxruntime when it is loaded: otherwise it gives the machine an identifier, kept in the
# home folder, and reports to its makers.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
