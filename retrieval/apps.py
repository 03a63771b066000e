"""The app of documents and of finding passages in them."""

from django.apps import AppConfig
from django.db.models.signals import post_delete


class RetrievalConfig(AppConfig):
    """Documents and search."""

    name = "retrieval"
    verbose_name = "Documents"

    def ready(self) -> None:
        """Let the stored file of a version go with it."""
        from retrieval.ingestion.uploads import delete_file  # noqa: PLC0415

        post_delete.connect(
            delete_file, sender="retrieval.DocumentVersion", dispatch_uid="delete_file"
        )
