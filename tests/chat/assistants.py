"""Assistants in the admin: addresses, a form, and people who may do something there."""

from __future__ import annotations

from django.contrib.auth.models import Permission, User
from django.urls import reverse

from chat.models import Assistant
from tests import conversations

ADD = "/admin/chat/assistant/add/"
LIST = "/admin/chat/assistant/"
FORM = {"name": "Archivist", "visibility": "signed_in", "search_settings": "{}"}


def allowed(*codenames: str) -> User:
    """Make someone in the admin with these permissions and no other."""
    user = conversations.person("maker", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def page_of(assistant: Assistant) -> str:
    return reverse("admin:chat_assistant_change", args=[assistant.pk])
