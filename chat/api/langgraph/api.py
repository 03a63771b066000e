"""The API, put together."""

from __future__ import annotations

from ninja import NinjaAPI

from chat.api.langgraph import assistants, runs, threads

api = NinjaAPI(title="ragsite for LangGraph", urls_namespace="langgraph", docs_url=None)
for part in (assistants, threads, runs):
    api.add_router("", part.router)
