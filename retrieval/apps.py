"""The app of documents and of finding passages in them."""

from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_delete


class RetrievalConfig(AppConfig):
    """Documents and search."""

    name = "retrieval"
    verbose_name = "Documents"

    def ready(self) -> None:
        """Check the configured backends; let the stored file of a version go with it.

        What changes collections is recorded, and what is old is let go.
        """
        from retrieval import expiry  # noqa: PLC0415
        from retrieval.audit import signals  # noqa: PLC0415
        from retrieval.checks import (  # noqa: PLC0415
            check_backends,
            check_spaces,
            check_tokenizer,
        )
        from retrieval.ingestion import expiring  # noqa: PLC0415
        from retrieval.ingestion.uploads import delete_file  # noqa: PLC0415

        checks.register(check_backends)
        checks.register(check_tokenizer)
        checks.register(check_spaces, checks.Tags.database)
        post_delete.connect(
            delete_file, sender="retrieval.DocumentVersion", dispatch_uid="delete_file"
        )
        signals.watch("retrieval.Collection")
        expiry.kinds.extend(expiring.KINDS)
