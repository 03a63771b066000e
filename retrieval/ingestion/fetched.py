"""The stage of a version whose file is fetched from an address: what the worker does of it."""

from __future__ import annotations

import tempfile
from typing import IO

from django.core.files import File
from django.db import transaction
from yarl import URL

from retrieval.database import in_thread
from retrieval.ingestion.downloading import Download, download, name_in
from retrieval.ingestion.errors import FetchError
from retrieval.ingestion.incoming import UploadError, clean_name, discard, store
from retrieval.ingestion.ledger import VersionGoneError
from retrieval.limits.uploads import QuotaError, check_room
from retrieval.models import Collection, Document, DocumentVersion, Stage

# A server that is away is asked again for some minutes, not as long as a provider.
MAX_FETCHES = 5


class UnchangedError(VersionGoneError):
    """The file is the one that the document has already; the version is deleted."""


async def fetch(version: DocumentVersion) -> None:
    """Fetch the file of a version from its address, and store it.

    Raises FetchError, UnchangedError, VersionGoneError.
    """
    with tempfile.TemporaryFile() as content:
        try:
            found = await download(version.source_url, content)
        except FetchError as error:
            error.retryable &= await in_thread(_tries, version) < MAX_FETCHES
            raise
        await in_thread(_keep, version, found, content)


def _tries(version: DocumentVersion) -> int:
    return version.stages.filter(stage=Stage.FETCHING).count()


def _keep(version: DocumentVersion, found: Download, content: IO[bytes]) -> None:
    """Store what was fetched, and name a new document as its server does."""
    folder, name = name_in(URL(version.source_url), found)
    try:
        name = clean_name(name, folder)
        store(version, name, File(content))
    except UploadError as error:
        raise FetchError(error.code, error.message) from error
    try:
        _register(version, name)
    except QuotaError as error:
        discard(version, name)
        raise FetchError("quota-exceeded", str(error)) from error
    except BaseException:
        discard(version, name)
        raise


def _register(version: DocumentVersion, name: str) -> None:
    # What is raised in the transaction would undo it.
    if _is_unchanged(version):
        version.delete()
        raise UnchangedError
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=version.document.collection_id)
        values = {name: getattr(version, name) for name in ("file", "sha256", "size")}
        if not DocumentVersion.objects.filter(pk=version.pk).update(**values):
            raise VersionGoneError
        check_room(version)
        document = version.document
        if document.current_version_id is None and document.name != name:
            document.name = free_name(document, name)
            document.save(update_fields=["name"])


def _is_unchanged(version: DocumentVersion) -> bool:
    others = DocumentVersion.objects.filter(document=version.document_id).exclude(pk=version.pk)
    newest = others.defer("text").exclude(stage=Stage.FAILED).order_by("-number").first()
    return newest is not None and newest.sha256 == version.sha256


def free_name(document: Document, name: str) -> str:
    """Return a name that no other document of the collection has: this one, or a numbered one.

    The collection's row is to be locked by the caller.
    """
    others = Document.objects.filter(collection=document.collection_id).exclude(pk=document.pk)
    folder, _, base = name.rpartition("/")
    stem, dot, suffix = base.rpartition(".") if "." in base[1:] else (base, "", "")
    free, number = name, 1
    while others.filter(name=free).exists():
        number += 1
        free = clean_name(f"{stem} ({number}){dot}{suffix}", folder)
    return free
