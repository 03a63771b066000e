"""The API that `langgraph-sdk` speaks: threads are conversations, and runs are runs."""
