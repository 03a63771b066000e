"""The upload page: files, folders, zips and addresses, each followed until it has ended."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, TooManyFilesSent
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from retrieval.admin_stages import (
    FOLLOWED,
    any_active,
    no_worker,
    stage_html,
    valid_keys,
    versions_of,
)
from retrieval.admin_upload_form import UploadForm, initial
from retrieval.ingestion import fetching, upload_limits
from retrieval.ingestion.archives import Taken, add_file
from retrieval.ingestion.upload_limits import LimitedUploadHandler, RequestTooLargeError
from retrieval.ingestion.uploads import UploadError, split_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.contrib.admin import ModelAdmin
    from django.core.files.uploadedfile import UploadedFile
    from django.http import HttpRequest

    from retrieval.ingestion.uploads import Upload
    from retrieval.models import Collection, DocumentVersion

    Files = list[UploadedFile[Any]]

logger = logging.getLogger(__name__)

NOT_STORED = "This could not be stored. Try it again."


@csrf_exempt
def upload(request: HttpRequest, model_admin: ModelAdmin[Any]) -> HttpResponse:
    """Show the upload page, or take files in.

    The token is checked below: looking for it reads the body, by the handler that is set here.
    """
    if not model_admin.has_add_permission(request):
        raise PermissionDenied
    if request.method != "POST":
        return _page(request, model_admin, _form(request))
    handler = LimitedUploadHandler(request)
    request.upload_handlers = [handler]
    try:
        files: Files = request.FILES.getlist("files")
    except TooManyFilesSent:
        text = f"At most {settings.UPLOAD_MAX_FILES} files can be uploaded at once."
        return _too_much(request, text)
    except RequestTooLargeError as error:
        return _too_much(request, str(error))
    response: HttpResponse = _receive(request, model_admin, files, handler.refused)
    return response


def _too_much(request: HttpRequest, text: str) -> HttpResponse:
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(text, status=413, content_type="text/plain")
    messages.error(request, text)
    return redirect("admin:retrieval_document_upload")


@csrf_protect
def _receive(
    request: HttpRequest,
    model_admin: ModelAdmin[Any],
    files: Files,
    refused: list[tuple[str, str]],
) -> HttpResponse:
    """Take each file in by itself: a bad one does not keep the others out."""
    form = _form(request)
    script = request.htmx  # type: ignore[attr-defined]
    if not form.is_valid():
        if script:
            return HttpResponse(_problem("", form.reasons()))
        return _page(request, model_admin, form)
    urls = form.cleaned_data.get("urls", [])
    if not (files or refused or urls):
        form.add_error(None, "Choose at least one file.")
        return _page(request, model_admin, form)
    collection = form.target()
    taken = [
        *_files(request, collection, files, form.cleaned_data["metadata"]),
        *_urls(request, collection, urls, form.cleaned_data["metadata"]),
    ]
    problems = [*refused, *((each.path, each.error.message) for each in taken if each.error)]
    if script:
        rows = [_row(request, each.path, each.upload) for each in taken if each.upload]
        return HttpResponse("".join([*rows, *(_problem(*problem) for problem in problems)]))
    for name, text in problems:
        # Django capitalises a message; a quoted name stays as it is.
        messages.error(request, f"“{name}”: {text}")
    versions = [each.upload.version.pk for each in taken if each.upload][:FOLLOWED]
    query = "&".join(f"version={key}" for key in versions)
    return redirect(
        f"{reverse('admin:retrieval_document_upload')}?collection={collection.pk}&{query}"
    )


def _files(
    request: HttpRequest, collection: Collection, files: Files, metadata: dict[str, Any]
) -> Iterator[Taken]:
    """Take files in; beside each, the script says where in a folder it stands."""
    paths = request.POST.getlist("path")
    for position, file in enumerate(files):
        name = file.name or ""
        folder, own = split_path(paths[position]) if len(paths) == len(files) else ("", name)
        try:
            yield from add_file(
                collection, own, file, request.user,  # type: ignore[arg-type]
                folder=folder, metadata=metadata,
            )  # fmt: skip
        except (OSError, IntegrityError):
            logger.exception("An upload could not be stored")
            yield Taken(name, None, UploadError("not-stored", NOT_STORED))


def _urls(
    request: HttpRequest, collection: Collection, urls: Iterable[str], metadata: dict[str, Any]
) -> Iterator[Taken]:
    for url in urls:
        try:
            upload = fetching.add_url(
                collection, url, request.user, metadata=metadata,  # type: ignore[arg-type]
            )  # fmt: skip
        except UploadError as error:
            yield Taken(url, None, error)
        except IntegrityError:
            logger.exception("An address could not be stored")
            yield Taken(url, None, UploadError("not-stored", NOT_STORED))
        else:
            yield Taken(url, upload, None)


def _form(request: HttpRequest) -> UploadForm:
    data = request.POST if request.method == "POST" else None
    return UploadForm(
        data, initial=initial(request), user=request.user, fetching=fetching.fetching_enabled()
    )


def _row(request: HttpRequest, path: str, upload: Upload) -> str:
    return render_to_string(
        "admin/retrieval/document/_row.html",
        _cells(request, upload.version) | {"path": path, "unchanged": upload.unchanged},
    )


def _cells(request: HttpRequest, version: DocumentVersion) -> dict[str, Any]:
    may_view = any(
        request.user.has_perm(f"retrieval.{permission}_document")
        for permission in ("view", "change")
    )
    return {"version": version, "stage": stage_html(version), "may_view": may_view}


def _problem(name: str, text: str) -> str:
    return render_to_string("admin/retrieval/document/_row.html", {"name": name, "problem": text})


def _page(request: HttpRequest, model_admin: ModelAdmin[Any], form: UploadForm) -> TemplateResponse:
    versions = versions_of(request, valid_keys(request.GET.getlist("version")))
    active = any_active(versions)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Upload documents",
        "opts": model_admin.model._meta,
        "form": form,
        "rows": [_cells(request, version) for version in versions],
        "active": active,
        "no_worker": active and no_worker(),
        "limits": upload_limits.described(request.user),
    }
    return TemplateResponse(request, "admin/retrieval/document/upload.html", context)
