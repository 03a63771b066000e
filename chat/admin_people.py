"""Naming people and groups who may use an assistant: they are looked up while one types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.core.exceptions import PermissionDenied

from chat.models import Assistant
from retrieval.admin_people import PeopleChoice, PeopleView

if TYPE_CHECKING:
    from django.http import HttpRequest

# The name of the view's address.
PEOPLE = "chat_assistant_people"
FIELDS = ("users", "groups")


class AssistantPeopleChoice(PeopleChoice):
    """People or groups, for those who may not open the pages of accounts."""

    url_name = f"%s:{PEOPLE}"


class AssistantPeopleView(PeopleView):
    """What is found for the beginning of a name, told to whoever may change or add assistants."""

    def process_request(self, request: HttpRequest) -> Any:
        """Refuse fields of anything but assistants."""
        asked = [request.GET.get(name) for name in ("app_label", "model_name")]
        options = Assistant._meta
        of_assistant = asked == [options.app_label, options.model_name]
        if not of_assistant or request.GET.get("field_name") not in FIELDS:
            raise PermissionDenied
        return AutocompleteJsonView.process_request(self, request)

    def has_perm(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether they may name people at all."""
        user = request.user
        return user.has_perm("chat.change_assistant") or user.has_perm("chat.add_assistant")
