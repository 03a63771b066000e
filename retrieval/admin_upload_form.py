"""The form of the upload page: where files go, what is said of them, and addresses to fetch."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import PermissionDenied

from retrieval.admin_managed import let_manage, managed
from retrieval.ingestion.metadata import MetadataError, from_pairs
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.http import HttpRequest

# Addresses that one request takes.
MOST_URLS = 100
NONE_MANAGED = "You manage no collection yet. An administrator can make you a manager of one."
TAKEN = "There is a collection of this name that you do not manage."


class UploadForm(forms.Form):
    """Where the files go; the files themselves are read from the request."""

    collection = forms.ModelChoiceField(
        Collection.objects.none(), required=False, empty_label="A new collection"
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
    urls = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "https://"}),
        label="From the web",
        help_text="Addresses of files or pages that the worker fetches, one a line.",
    )

    def __init__(
        self,
        *args: Any,
        user: User | AnonymousUser,
        fetching: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.may_add_collection = user.has_perm("retrieval.add_collection")
        self.managed = Collection.objects.managed_by(user)
        self.fields["collection"].queryset = self.managed  # type: ignore[attr-defined]
        if not self.may_add_collection:
            del self.fields["new_collection"]
            self.fields["collection"].empty_label = None  # type: ignore[attr-defined]
            self.fields["collection"].help_text = "" if self.managed.exists() else NONE_MANAGED
        if not fetching:
            del self.fields["urls"]

    def clean_metadata(self) -> dict[str, Any]:
        """Return the metadata that the lines say."""
        lines = self.cleaned_data["metadata"].splitlines()
        try:
            return from_pairs(line for line in lines if line.strip())
        except MetadataError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_urls(self) -> list[str]:
        """Return the addresses, one a line."""
        lines = [line.strip() for line in self.cleaned_data["urls"].splitlines()]
        urls = [line for line in lines if line]
        if len(urls) > MOST_URLS:
            raise forms.ValidationError(f"At most {MOST_URLS} addresses are taken at once.")
        return urls

    def clean(self) -> dict[str, Any]:
        """Make sure that there is one collection, and that they manage it if it is not new."""
        cleaned: dict[str, Any] = super().clean() or {}
        if self.has_error("collection") or cleaned.get("collection"):
            return cleaned
        if not self.may_add_collection:
            raise forms.ValidationError("Choose a collection.")
        name = cleaned.get("new_collection")
        if not name:
            raise forms.ValidationError("Choose a collection, or give a new one a name.")
        if self._is_others(name):
            raise forms.ValidationError(TAKEN)
        return cleaned

    def target(self) -> Collection:
        """Return the chosen collection; who makes a new one now manages it."""
        if chosen := self.cleaned_data["collection"]:
            return chosen  # type: ignore[no-any-return]
        if not self.may_add_collection:
            raise PermissionDenied
        name = self.cleaned_data["new_collection"]
        collection, made = Collection.objects.get_or_create(name=name)
        if made:
            let_manage(self.user, collection)
        elif self._is_others(name):  # made meanwhile
            raise PermissionDenied
        return collection

    def _is_others(self, name: str) -> bool:
        named = Collection.objects.filter(name=name)
        return named.exists() and not self.managed.filter(name=name).exists()

    def reasons(self) -> str:
        """Return everything that is wrong, as one text."""
        return " ".join(str(error) for errors in self.errors.values() for error in errors)


def initial(request: HttpRequest) -> dict[str, Any]:
    """Return what the form begins with: the collection of the address, or the first."""
    collections = managed(request)
    try:
        chosen = collections.filter(pk=uuid.UUID(request.GET.get("collection", ""))).first()
    except ValueError:
        chosen = collections.first()
    return {"collection": chosen, "new_collection": "" if chosen else "Documents"}
