"""The page of a document: what it is, its text and chunks, its versions, and what was done."""

from __future__ import annotations

import uuid
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.paginator import Paginator

from retrieval import admin_ledger, admin_search, admin_text
from retrieval.admin_filters import language_name, type_name
from retrieval.admin_stages import stage_html
from retrieval.ingestion.metadata import MetadataError, checked
from retrieval.models import ENDED, Chunk, Document, DocumentVersion, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet
    from django.http import HttpRequest

    DocumentModelForm = forms.ModelForm[Document]
else:
    DocumentModelForm = forms.ModelForm

CHUNKS = 10
VERSIONS = 50


class DocumentForm(DocumentModelForm):
    """A document, with its metadata checked."""

    class Meta:
        model = Document
        fields = ("title", "collection", "enabled", "metadata")
        help_texts = MappingProxyType(
            {
                "metadata": "For filters, as a JSON object. It is over what the file says; null"
                " takes something away that the file says."
            }
        )

    def clean_metadata(self) -> dict[str, Any]:
        """Return the metadata with its times in one form; nothing is an empty object."""
        try:
            return checked(self.cleaned_data["metadata"] or {})
        except MetadataError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        """Refuse a collection that has a document of this name."""
        cleaned: dict[str, Any] = super().clean() or {}
        if (collection := cleaned.get("collection")) and (
            Document.objects.filter(collection=collection, name=self.instance.name)
            .exclude(pk=self.instance.pk)
            .exists()
        ):
            text = f"There is a document “{self.instance.name}” in {collection} already."
            self.add_error("collection", text)
        return cleaned


def context(request: HttpRequest, document: Document) -> dict[str, Any]:
    """Return what the page shows beside the form.

    It is told by the address: `version` (an id), `part` or `page` of the text, `chunks` (a page of
    them), `q` (a search to try).
    """
    versions = list(document.versions.defer("text")[:VERSIONS])
    shown = _chosen(document, versions, request.GET.get("version", ""))
    question = request.GET.get("q", "").strip()
    return {
        "versions": [(version, stage_html(version, followed=False)) for version in versions],
        "more_versions": len(versions) == VERSIONS and document.versions.count() - VERSIONS,
        "newest": versions[0] if versions else None,
        "shown": shown,
        "searched": document.versions.filter(current_of=document)
        .values_list("number", flat=True)
        .first(),
        "ledger": admin_ledger.entries(document),
        "following": any(version.stage not in ENDED for version in versions),
        "failed": bool(versions) and versions[0].stage == Stage.FAILED,
        "question": question,
        "tried": admin_search.try_search(request.user, document, question) if question else None,
        "may": {
            action: request.user.has_perm(f"retrieval.{action}_document")
            for action in ("add", "change", "delete")
        },
        "may_see_chunks": request.user.has_perm("retrieval.view_chunk"),
        **(_of_version(request, shown) if shown else {}),
    }


def _of_version(request: HttpRequest, version: DocumentVersion) -> dict[str, Any]:
    chunks = Paginator(_chunks(version), CHUNKS)
    return {
        "type": type_name(version.media_type),
        "language": language_name(version.language) if version.language else "",
        "said": sorted((key, _said(value)) for key, value in version.metadata.items()),
        "text": admin_text.part_of(
            version, _number(request, "part") or 1, _number(request, "page")
        ),
        "chunks": chunks.get_page(request.GET.get("chunks")),
    }


def _chunks(version: DocumentVersion) -> QuerySet[Chunk]:
    return version.chunks.defer("fulltext").order_by("ordinal")


def _chosen(
    document: Document, versions: Sequence[DocumentVersion], key: str
) -> DocumentVersion | None:
    """Return the version asked for, else the one that is searched, else the newest."""
    try:
        wanted: uuid.UUID | None = uuid.UUID(key)
    except ValueError:
        wanted = document.current_version_id
    first = versions[0] if versions else None
    found = next((version for version in versions if version.pk == wanted), None)
    if found is None and wanted is not None:
        found = document.versions.defer("text").filter(pk=wanted).first()
    return found or first


def _number(request: HttpRequest, name: str) -> int | None:
    value = request.GET.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None


def _said(value: object) -> str:
    """Return a value of metadata for reading."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
