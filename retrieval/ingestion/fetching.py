"""Taking in an address: what stands there becomes a document, fetched by the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from yarl import URL

from retrieval.audit.recording import record
from retrieval.ingestion.addresses import checked_url
from retrieval.ingestion.downloading import name_in
from retrieval.ingestion.fetched import free_name
from retrieval.ingestion.incoming import UploadError, clean_name, over_quota
from retrieval.ingestion.pipeline import title_of
from retrieval.ingestion.tasks import defer_ingestion
from retrieval.ingestion.uploads import Upload
from retrieval.limits import uploads as limits
from retrieval.limits.uploads import QuotaError
from retrieval.models import ENDED, Collection, Document, DocumentVersion

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def fetching_enabled() -> bool:
    """Whether files are fetched from addresses."""
    return bool(settings.FETCH_URLS)


def add_url(
    collection: Collection,
    url: str,
    user: User | None = None,
    *,
    metadata: dict[str, Any] | None = None,
) -> Upload:
    """Queue the fetching of a file as the newest version of the document of that address.

    If it turns out to be the file that the document has, the version is deleted again. Raises
    UploadError for what is no address that may be fetched from, as far as it shows, and for what is
    more than `user` may upload.
    """
    if not fetching_enabled():
        raise UploadError("bad-address", "Files are not fetched from addresses here.")
    address = checked_url(url)
    try:
        return _queue(collection, address, user, metadata or {})
    except QuotaError as error:
        raise over_quota(error) from error


def _queue(
    collection: Collection, address: URL, user: User | None, metadata: dict[str, Any]
) -> Upload:
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)
        document = _document(collection, address, user)
        document.metadata |= {**metadata, "source_url": str(address)}
        document.save()
        last = document.versions.defer("text").order_by("-number").first()
        if last is not None and last.source_url and not last.file and last.stage not in ENDED:
            return Upload(document, last, unchanged=False)
        version = DocumentVersion.objects.create(
            document=document,
            number=last.number + 1 if last else 1,
            size=0,
            source_url=str(address),
        )
        defer_ingestion(version)
        limits.charge(user, version)
        record(user, "document.uploaded", document, version=version.number)
    return Upload(document, version, unchanged=False)


def _document(collection: Collection, address: URL, user: User | None) -> Document:
    """Return the document of an address, not saved if it is new."""
    known = Document.objects.filter(collection=collection, versions__source_url=str(address))
    if found := known.order_by("-created_at").first():
        return found
    folder, name = name_in(address)
    name = clean_name(name, folder)
    document = Document(collection=collection, title=title_of(name), uploaded_by=user)
    document.name = free_name(document, name)
    return document
