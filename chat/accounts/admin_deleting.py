"""People in admin: deleting somebody takes what is theirs along, unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chat.accounts.admin_users import AccountAdmin
from chat.accounts.erasing import is_only_superuser
from chat.models import Conversation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User
    from django.http import HttpRequest


class PersonAdmin(AccountAdmin):
    """People, of whom nobody deletes one that may do more, nor the only administrator."""

    def get_deleted_objects(
        self, objs: Iterable[User], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
        """Return who would go, and how many conversations; these are nobody else's to read.

        Nobody may delete conversations here, but with their owner they go.
        """
        people = list(objs)
        conversations = Conversation.with_deleted.filter(user__in=people).count()
        counts = {"users": len(people), "conversations": conversations}
        kept = [str(user) for user in people if not self.has_delete_permission(request, user)]
        return [str(user) for user in people], counts, set(), kept

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Keep administrators from who is none, and the only one from everybody."""
        allowed = super().has_delete_permission(request, obj)
        if obj is None or not allowed:
            return allowed
        above = obj.is_superuser and not request.user.is_superuser
        return not above and not is_only_superuser(obj)
