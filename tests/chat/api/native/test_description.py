"""The description of the API, and that what it says is so: every operation is tried by it."""

from __future__ import annotations

import contextlib
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from tests.chat.api.conftest import ANSWER, Live

EXAMPLES = {GenerationMode.POSITIVE: 5, GenerationMode.NEGATIVE: 3}
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
# Of what is there these would leave nothing, or work that nobody does here.
ON_NOTHING = {"deleteDocument", "deleteCollection", "deleteConversation", "retryDocument"}


@pytest.fixture(scope="module")
def known(ada: httpx.Client, live: Live) -> dict[str, str]:
    """Return ids of things that are there, by the names of parameters."""
    live.say(*ANSWER)
    run = ada.post("runs", json={"text": "How high is the tower?", "stream": False}).json()
    return {
        "document_id": str(live.documents["tower.md"].pk),
        "collection_id": str(live.collection.pk),
        "run_id": run["id"],
        "conversation_id": run["conversation"],
        "message_id": run["answer"],
    }


def test_every_operation_keeps_to_the_description(
    live: Live, known: dict[str, str], subtests: pytest.Subtests
) -> None:
    schema = schemathesis.openapi.from_url(f"{live.base_url}/api/v1/openapi.json")
    tried = 0
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {live.token}"
        for found in schema.get_all_operations():
            operation = found.ok()
            for mode, most in EXAMPLES.items():
                with subtests.test(operation.label, mode=mode.value):
                    tried += keeps_to_it(operation, mode, most, session, known)
    assert tried > 200


def keeps_to_it(
    operation: Any, mode: GenerationMode, most: int, session: requests.Session, known: Any
) -> int:
    """Try an operation so often, half of the time with what is there; return how often."""
    key = operation.definition.raw["operationId"]
    tried = 0

    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode))
    def check(case: Case) -> None:
        nonlocal tried
        tried += 1
        for name in case.path_parameters or {}:
            if tried % 2 and key not in ON_NOTHING and name in known:
                case.path_parameters[name] = known[name]
        if "wait" in (case.query or {}) and mode is GenerationMode.POSITIVE:
            case.query["wait"] = 0
        case.validate_response(case.call(session=session, timeout=20), checks=CHECKS)

    with contextlib.suppress(Unsatisfiable):  # nothing can be wrong where nothing is sent
        check()
    return tried


def test_the_description_names_its_operations_once_and_explains_them(ada: httpx.Client) -> None:
    schema = ada.get("openapi.json").json()
    operations = [each for path in schema["paths"].values() for each in path.values()]
    ids = [each["operationId"] for each in operations]
    assert len(ids) == len(set(ids)) > 30
    assert all(each["summary"] and each["description"] for each in operations)
    assert {*schema["components"]["securitySchemes"]} == {"token", "key", "session"}


def test_the_description_has_the_frames_and_all_settings(ada: httpx.Client) -> None:
    schemas = ada.get("openapi.json").json()["components"]["schemas"]
    assert {"Token", "Citation", "Done", "Error", "Snapshot"} <= schemas.keys()
    assert schemas["Token"]["properties"]["type"]["const"] == "token"
    assert "search_strategy" in schemas["SearchSettings"]["properties"]
    settings_of_a_search = schemas["SearchIn"]["properties"]["settings"]
    assert settings_of_a_search["anyOf"][0] == {"$ref": "#/components/schemas/SearchSettings"}
