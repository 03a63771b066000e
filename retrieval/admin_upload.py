"""The upload page of the admin: several files into a collection, each followed until it ended."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, TooManyFilesSent
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from retrieval.ingestion.metadata import MetadataError, from_pairs
from retrieval.ingestion.pipeline import ENDED
from retrieval.ingestion.uploads import UploadError, add_document, too_large
from retrieval.models import Collection, DocumentVersion, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.admin import ModelAdmin
    from django.core.files.uploadedfile import UploadedFile

    Files = list[UploadedFile[Any]]
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

logger = logging.getLogger(__name__)

# Versions that one page follows.
FOLLOWED = 200


class LimitedUploadHandler(TemporaryFileUploadHandler):
    """Puts files on disk, and drops those that grow above UPLOAD_MAX_BYTES as they come in."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.refused: list[str] = []

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Start measuring a file."""
        self.received = 0
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        """Write a piece of a file, unless it is one too many."""
        self.received += len(raw_data)
        if self.received > settings.UPLOAD_MAX_BYTES:
            self.refused.append(self.file_name or "")
            self.file.close()
            raise SkipFile
        return super().receive_data_chunk(raw_data, start)


class UploadForm(forms.Form):
    """Where the files go; the files themselves are read from the request."""

    collection = forms.ModelChoiceField(
        Collection.objects.all(), required=False, empty_label="A new collection"
    )
    new_collection = forms.CharField(
        max_length=200, required=False, label="Name of the new collection"
    )

    metadata = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "department=Sales\nyear=2026"}),
        label="Metadata",
        help_text="Of all these documents, for filters: one KEY=VALUE a line.",
    )

    def clean_metadata(self) -> dict[str, Any]:
        """Return the metadata that the lines say."""
        lines = self.cleaned_data["metadata"].splitlines()
        try:
            return from_pairs(line for line in lines if line.strip())
        except MetadataError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        """Make sure that there is one collection."""
        cleaned: dict[str, Any] = super().clean() or {}
        if not cleaned.get("collection") and not cleaned.get("new_collection"):
            raise forms.ValidationError("Choose a collection, or give a new one a name.")
        return cleaned

    def target(self) -> Collection:
        """Return the chosen collection, made now if it is new."""
        if chosen := self.cleaned_data["collection"]:
            return chosen  # type: ignore[no-any-return]
        name = self.cleaned_data["new_collection"]
        collection, _ = Collection.objects.get_or_create(name=name)
        return collection


@csrf_exempt
def upload(request: HttpRequest, model_admin: ModelAdmin[Any]) -> HttpResponse:
    """Show the upload page, or take files in.

    The token is checked below: looking for it reads the body, by the handler that is set here.
    """
    if not model_admin.has_add_permission(request):
        raise PermissionDenied
    if request.method == "POST":
        handler = LimitedUploadHandler(request)
        request.upload_handlers = [handler]
        try:
            files: Files = request.FILES.getlist("files")
        except TooManyFilesSent:
            text = f"At most {settings.UPLOAD_MAX_FILES} files can be uploaded at once."
            messages.error(request, text)
            return redirect("admin:retrieval_document_upload")
        response: HttpResponse = _receive(request, model_admin, files, handler.refused)
        return response
    return _page(request, model_admin, UploadForm(initial=_initial(request)))


@csrf_protect
def _receive(
    request: HttpRequest,
    model_admin: ModelAdmin[Any],
    files: Files,
    refused: list[str],
) -> HttpResponse:
    """Take each file in by itself: a bad one does not keep the others out."""
    form = UploadForm(request.POST)
    script = request.htmx  # type: ignore[attr-defined]
    if not form.is_valid():
        if script:
            reasons = [str(error) for errors in form.errors.values() for error in errors]
            return HttpResponse(_problem("", " ".join(reasons)))
        return _page(request, model_admin, form)
    if not files and not refused:
        form.add_error(None, "Choose at least one file.")
        return _page(request, model_admin, form)
    collection = form.target()
    problems = [(name, too_large().message) for name in refused]
    versions: list[DocumentVersion] = []
    for file in files:
        try:
            version = add_document(
                collection,
                file.name or "",
                file,
                request.user,  # type: ignore[arg-type]
                metadata=form.cleaned_data["metadata"],
            ).version
        except UploadError as error:
            problems.append((file.name or "", error.message))
        except (OSError, IntegrityError):
            logger.exception("An upload could not be stored")
            problems.append((file.name or "", "This file could not be stored. Try it again."))
        else:
            versions.append(version)
    if script:
        return HttpResponse(
            "".join([*map(_row, versions), *(_problem(name, text) for name, text in problems)])
        )
    for name, text in problems:
        # Django capitalises a message; a quoted name stays as it is.
        messages.error(request, f"“{name}”: {text}")
    query = "&".join(f"version={version.pk}" for version in versions)
    return redirect(
        f"{reverse('admin:retrieval_document_upload')}?collection={collection.pk}&{query}"
    )


def stages(request: HttpRequest, model_admin: ModelAdmin[Any]) -> HttpResponse:
    """Return the stages of the versions asked for, and a poller for those that go on."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    versions = _versions(request.GET.getlist("version"))
    parts = [stage_html(version, swap=True) for version in versions]
    poller = render_to_string(
        "admin/retrieval/document/_poller.html", {"active": any_active(versions)}
    )
    return HttpResponse("".join([poller, *parts]))


def stage_html(version: DocumentVersion, *, swap: bool = False) -> SafeString:
    """Return a version's stage in words, with its progress or its error."""
    return render_to_string(
        "admin/retrieval/document/_stage.html",
        {
            "version": version,
            "swap": swap,
            "active": version.stage not in ENDED,
            "failed": version.stage == Stage.FAILED,
            "ready": version.stage == Stage.READY,
        },
    )


def any_active(versions: Iterable[DocumentVersion]) -> bool:
    """Whether some of the versions are worth asking for again."""
    return any(version.stage not in ENDED for version in versions)


def _row(version: DocumentVersion) -> str:
    return render_to_string("admin/retrieval/document/_row.html", _cells(version))


def _cells(version: DocumentVersion) -> dict[str, Any]:
    return {"version": version, "stage": stage_html(version)}


def _problem(name: str, text: str) -> str:
    return render_to_string("admin/retrieval/document/_row.html", {"name": name, "problem": text})


def _page(request: HttpRequest, model_admin: ModelAdmin[Any], form: UploadForm) -> TemplateResponse:
    versions = _versions(request.GET.getlist("version"))
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Upload documents",
        "opts": model_admin.model._meta,
        "form": form,
        "rows": [_cells(version) for version in versions],
        "active": any_active(versions),
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "max_files": settings.UPLOAD_MAX_FILES,
    }
    return TemplateResponse(request, "admin/retrieval/document/upload.html", context)


def _initial(request: HttpRequest) -> dict[str, Any]:
    chosen = request.GET.get("collection", "")
    collections = Collection.objects.all()
    try:
        collection = collections.filter(pk=uuid.UUID(chosen)).first()
    except ValueError:
        collection = collections.first()
    return {"collection": collection, "new_collection": "" if collection else "Documents"}


def _versions(keys: Iterable[str]) -> list[DocumentVersion]:
    """Return versions by their ids, in order; what is no id is passed over."""
    wanted = []
    for key in list(keys)[:FOLLOWED]:
        try:
            wanted.append(uuid.UUID(key))
        except ValueError:
            continue
    found = DocumentVersion.objects.select_related("document").defer("text").in_bulk(wanted)
    return [found[key] for key in wanted if key in found]
