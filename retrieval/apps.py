"""The app of documents and of finding passages in them."""

from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    """Documents and search."""

    name = "retrieval"
    verbose_name = "Documents"
