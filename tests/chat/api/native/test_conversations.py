"""Conversations with what was said in them, and what people say of answers."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx

from chat.models import Assistant
from retrieval.models import Visibility
from tests.chat.api.conftest import Live

Json = dict[str, Any]
QUESTION = "How high is the tower of Lund?"


def answered(client: httpx.Client) -> Json:
    answer: Json = client.post("runs", json={"text": QUESTION, "stream": False}).json()
    return answer


def test_a_conversation_has_its_messages_with_citations_and_sources(
    ada: httpx.Client, live: Live
) -> None:
    run = answered(ada)
    found = ada.get(f"conversations/{run['conversation']}").json()
    asked, answer = found["messages"]
    assert (asked["id"], asked["text"]) == (run["question"], QUESTION)
    assert (answer["id"], answer["run"]["id"]) == (run["answer"], run["id"])
    assert [each["span"] for each in answer["citations"]] == [
        each["span"] for each in run["citations"]
    ]
    cited = [each for each in answer["sources"] if each["cited"]]
    assert cited[0]["document"] == str(live.documents["tower.md"].pk)
    assert ada.get(f"messages/{run['answer']}").json() == answer


def test_what_somebody_may_not_see_any_more_is_blank(bob: httpx.Client, live: Live) -> None:
    run = answered(bob)
    live.collection.visibility = Visibility.RESTRICTED
    live.collection.save()
    try:
        answer = bob.get(f"messages/{run['answer']}").json()
        replayed = bob.get(f"runs/{run['id']}/events").text
    finally:
        live.collection.visibility = Visibility.SIGNED_IN
        live.collection.save()
    assert "may no longer see" in answer["citations"][0]["title"]
    assert answer["citations"][0]["quote"] == ""
    assert {each["snippet"] for each in answer["sources"]} == {""}
    assert "96 metres high. Anna" not in replayed


def test_a_conversation_is_begun_named_pinned_and_listed(ada: httpx.Client) -> None:
    key = str(uuid4())
    made = ada.post("conversations", json={"id": key, "metadata": {"a": 1}})
    assert (made.status_code, made.json()["id"], made.json()["title"]) == (201, key, "")
    assert ada.post("conversations", json={"id": key}).status_code == 409
    change = {"title": " Of\ntowers ", "pinned": True}
    changed = ada.patch(f"conversations/{key}", json=change).json()
    assert (changed["title"], changed["pinned"], changed["metadata"]) == (
        "Of towers", True, {"a": 1},
    )  # fmt: skip
    pinned = ada.get("conversations", params={"pinned": True}).json()
    assert [each["id"] for each in pinned["items"]] == [key]
    empty = ada.patch(f"conversations/{key}", json={"title": " "})
    assert empty.json()["errors"][0]["pointer"] == "#/title"


def test_an_empty_conversation_is_asked_in(ada: httpx.Client) -> None:
    key = ada.post("conversations", json={}).json()["id"]
    body = {"text": QUESTION, "conversation": key, "stream": False}
    assert ada.post("runs", json=body).json()["conversation"] == key
    assert ada.get(f"conversations/{key}").json()["title"] == QUESTION


def test_a_deleted_conversation_is_brought_back(ada: httpx.Client) -> None:
    key = answered(ada)["conversation"]
    assert ada.delete(f"conversations/{key}").status_code == 204
    assert ada.get(f"conversations/{key}").status_code == 404
    assert ada.post(f"conversations/{key}/restore").json()["id"] == key
    assert len(ada.get(f"conversations/{key}").json()["messages"]) == 2


def test_pages_are_the_same_though_something_is_added(ada: httpx.Client, live: Live) -> None:
    keys = [ada.post("conversations", json={"title": f"Page {n}"}).json()["id"] for n in range(5)]
    first = ada.get("conversations", params={"limit": 2}).json()
    assert [each["id"] for each in first["items"]] == [keys[4], keys[3]]
    ada.post("conversations", json={"title": "New"})
    second = ada.get(live.base_url + first["next"]).json()
    assert [each["id"] for each in second["items"]] == [keys[2], keys[1]]
    assert second["total"] == first["total"] + 1
    seen, link = [], second["next"]
    while link:
        page = ada.get(live.base_url + link).json()
        seen += [each["id"] for each in page["items"]]
        link = page["next"]
    assert keys[0] in seen
    assert len(seen) == second["total"] - 5


def test_a_cursor_that_is_none_is_refused(ada: httpx.Client) -> None:
    for cursor in ("x", "W10=", "WzEsMl0=", "é"):
        answer = ada.get("conversations", params={"cursor": cursor})
        assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", "cursor"])


def test_feedback_is_given_changed_and_taken_back(ada: httpx.Client) -> None:
    answer = answered(ada)["answer"]
    said = {"helpful": False, "reason": "wrong", "comment": "No."}
    assert ada.put(f"messages/{answer}/feedback", json=said).json()["reason"] == "wrong"
    ada.put(f"messages/{answer}/feedback", json={**said, "helpful": True})
    kept = ada.get(f"messages/{answer}").json()["feedback"]
    assert (kept["helpful"], kept["reason"], kept["comment"]) == (True, "", "No.")
    assert ada.delete(f"messages/{answer}/feedback").status_code == 204
    assert ada.get(f"messages/{answer}").json()["feedback"] is None


def test_what_is_somebody_else_s_is_not_there(ada: httpx.Client, bob: httpx.Client) -> None:
    run = answered(ada)
    conversation = f"conversations/{run['conversation']}"
    refused = [
        bob.get(conversation),
        bob.patch(conversation, json={"title": "Mine"}),
        bob.delete(conversation),
        bob.post(f"{conversation}/restore"),
        bob.get(f"messages/{run['answer']}"),
        bob.put(f"messages/{run['answer']}/feedback", json={"helpful": True}),
        bob.delete(f"messages/{run['answer']}/feedback"),
        ada.put(f"messages/{run['question']}/feedback", json={"helpful": True}),
    ]
    assert [each.status_code for each in refused] == [404] * len(refused)
    assert ada.get(conversation).status_code == 200


def test_assistants_are_those_one_may_use(ada: httpx.Client, bob: httpx.Client) -> None:
    keeper = Assistant.objects.create(
        name="Keeper", visibility="restricted", suggested_questions=["How high?"]
    )
    assert bob.get("assistants").json()["items"] == []
    assert bob.get(f"assistants/{keeper.pk}").status_code == 404
    keeper.users.add(ada_key(ada))
    (found,) = ada.get("assistants").json()["items"]
    assert (found["name"], found["suggested_questions"]) == ("Keeper", ["How high?"])
    keeper.delete()


def ada_key(client: httpx.Client) -> int:
    key: int = client.get("me").json()["id"]
    return key
