"""The API, put together."""

from __future__ import annotations

from django.http import HttpResponse
from ninja import NinjaAPI

from chat.api.credentials import Caller, Request
from chat.api.langgraph import assistants, runs, threads
from chat.api.langgraph.wire import json

api = NinjaAPI(title="ragsite for LangGraph", urls_namespace="langgraph", docs_url=None)
for part in (assistants, threads, runs):
    api.add_router("", part.router)


@api.get("info", auth=Caller())
def info(request: Request) -> HttpResponse:
    """Say what there is here of LangGraph, which its user interfaces ask for first."""
    flags = {"assistants": True, "crons": False, "store": False}
    return json({"version": api.version, "flags": flags})
