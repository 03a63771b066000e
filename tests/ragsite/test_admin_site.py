"""By what the lists of the admin may be narrowed: by their filters."""

from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse

from chat.accounts.roles import ADMINISTRATORS

REGISTERED = sorted(admin.site._registry, key=lambda model: model._meta.label)
SECRET = {"password", "digest", "data", "extra_data", "session_key"}
KINDS = ("", "__exact", "__startswith", "__regex", "__gt", "__isnull")


def listed(model: type[Model]) -> set[str]:
    filters = admin.site._registry[model].list_filter
    return {
        each if isinstance(each, str) else str(each[0]) for each in filters if not callable(each)
    }


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_no_list_is_narrowed_by_a_field_without_a_filter(
    model: type[Model], rf: RequestFactory, django_user_model: type[User]
) -> None:
    request = rf.get("/")
    request.user = django_user_model(is_superuser=True, is_staff=True)
    allowed = admin.site._registry[model].lookup_allowed
    for field in model._meta.get_fields():
        if field.name not in listed(model):
            for kind in KINDS:
                assert not allowed(f"{field.name}{kind}", "a", request), f"{field.name}{kind}"


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_nothing_secret_is_searched_filtered_or_sorted_by(model: type[Model]) -> None:
    of = admin.site._registry[model]
    shown: set[Any] = {*listed(model), *of.list_display, *of.search_fields, *(of.ordering or ())}
    named = {part for name in shown for part in str(name).strip("^=@-").split("__")}
    assert not named & SECRET


@pytest.mark.django_db
def test_administrators_do_not_learn_the_session_key_of_another(client: Client) -> None:
    user = User.objects.create_user("ada", is_staff=True)
    user.groups.add(Group.objects.get(name=ADMINISTRATORS))
    client.force_login(user)
    key = client.session.session_key
    UserSession.objects.get_or_create(
        user=user, session_key=key, defaults={"ip": "192.0.2.1", "user_agent": "x"}
    )
    address = reverse("admin:usersessions_usersession_changelist")
    assert client.get(address).status_code == 200
    for guess in (f"^{key}", "^nothing"):
        assert client.get(address, {"session_key__regex": guess}).status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        ("auth_user", {"is_staff__exact": "1", "groups__id__exact": "1"}),
        ("auth_user", {"guests": "only"}),
        ("accounts_apitoken", {"revoked_at__isempty": "1", "expires_at__isnull": "True"}),
        ("audit_auditevent", {"at__gte": "2026-01-01 00:00:00+00:00", "action": "file.downloaded"}),
        ("chat_conversation", {"runs__state": "failed", "assistant__isnull": "True"}),
    ],
)
def test_filters_narrow_their_lists(
    page: str, parameters: dict[str, str], admin_client: Client
) -> None:
    address = reverse(f"admin:{page}_changelist")
    assert admin_client.get(address, parameters).status_code == 200
