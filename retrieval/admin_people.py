"""Naming people and groups as readers and managers: they are looked up while one types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.contrib.admin.widgets import AutocompleteSelectMultiple
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from retrieval.models import Collection

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

# The name of the view's address.
PEOPLE = "retrieval_collection_people"
FIELDS = ("readers", "reader_groups", "managers", "manager_groups")


class PeopleChoice(AutocompleteSelectMultiple):
    """People or groups, for those who may not open the pages of accounts."""

    url_name = f"%s:{PEOPLE}"


class PeopleView(AutocompleteJsonView):
    """What is found for the beginning of a name: who may sign in, or groups.

    Whoever may change or add a collection may look, and is told names only.
    """

    def process_request(self, request: HttpRequest) -> Any:
        """Refuse fields of anything but collections."""
        asked = [request.GET.get(name) for name in ("app_label", "model_name")]
        options = Collection._meta
        of_collection = asked == [options.app_label, options.model_name]
        if not of_collection or request.GET.get("field_name") not in FIELDS:
            raise PermissionDenied
        return super().process_request(request)

    def has_perm(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether they may name people at all."""
        user = request.user
        return user.has_perm("retrieval.change_collection") or user.has_perm(
            "retrieval.add_collection"
        )

    def get_queryset(self) -> QuerySet[Any]:
        """Leave out guests and those who have left."""
        found: QuerySet[Any] = super().get_queryset()
        return found.filter(is_active=True) if found.model is User else found
