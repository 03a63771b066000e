"""Limits for administrators to set, and what people use of what they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce
from django.template.response import TemplateResponse
from django.urls import path

from chat import use
from chat.accounts.models import GUEST_NAME
from chat.admin_limits_form import LimitForm
from retrieval.limits.meters import today
from retrieval.limits.models import Charge, Limit
from retrieval.limits.quantities import QUANTITIES, Quantity

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern

    # Generic for type checkers only.
    LimitModelAdmin = admin.ModelAdmin[Limit]
else:
    LimitModelAdmin = admin.ModelAdmin

PEOPLE_A_PAGE = 50


def _column(quantity: Quantity) -> Callable[[Limit], str]:
    @admin.display(description=quantity.label, ordering=quantity.name)
    def column(limit: Limit) -> str:
        value = limit.of(quantity)
        return "–" if value is None else quantity.words(value)

    return column


class LimitAdmin(LimitModelAdmin):
    """Who may use how much; a page beside the list shows what they do use."""

    form = LimitForm
    list_display = ("__str__", "scope", *(_column(quantity) for quantity in QUANTITIES))
    autocomplete_fields = ("user", "group")
    list_select_related = ("user", "group")
    search_fields = ("user__username", "group__name")
    change_list_template = "admin/limits/limit/change_list.html"
    fieldsets = (
        (None, {"fields": ("scope", "user", "group")}),
        (
            "May use",
            {
                "fields": tuple(quantity.name for quantity in QUANTITIES),
                "description": "What is blank is left to the next wider limit: a person’s own"
                " comes first, then the most generous of their groups’, then everyone’s, then the"
                " settings. Write “unlimited” for no limit.",
            },
        ),
    )

    def get_urls(self) -> list[URLPattern]:
        """Add the page of use."""
        view = self.admin_site.admin_view(self.use)
        return [path("use/", view, name="limits_limit_use"), *super().get_urls()]

    def use(self, request: HttpRequest) -> HttpResponse:
        """Show people with what they used today, those first who took the most tokens."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        search = request.GET.get("q", "").strip()
        pages = Paginator(people(search), PEOPLE_A_PAGE)
        page = pages.get_page(request.GET.get("page"))
        found = use.of_people(list(page.object_list))
        context = {
            **self.admin_site.each_context(request),
            "title": "Use today",
            "opts": self.opts,
            "quantities": QUANTITIES,
            "rows": [(person, found[person.pk]) for person in page.object_list],
            "page": page,
            "search": search,
            "people": use.total(guests=False),
            "guests": use.total(guests=True),
            "own": set(Limit.objects.filter(user__in=found).values_list("user_id", flat=True)),
            "may_add": self.has_add_permission(request),
        }
        return TemplateResponse(request, "admin/limits/limit/use.html", context)


def people(search: str) -> QuerySet[User]:
    """Return those with an account, and of them those with `search` in their name or address.

    Who took the most tokens today comes first, then who asked the most.
    """
    charges = Charge.objects.filter(user=OuterRef("pk"), asked_at__gte=today()).values("user")
    counts = (charges.annotate(n=value).values("n") for value in (Sum("tokens"), Count("pk")))
    most_tokens, most_questions = (Coalesce(Subquery(count), 0) for count in counts)
    named = Q(username__icontains=search) | Q(email__icontains=search)
    accounts = User.objects.exclude(username__regex=GUEST_NAME).filter(named)
    return accounts.order_by(most_tokens.desc(), most_questions.desc(), "username")
