"""The admin site, whose lists are narrowed by the filters that they offer and by nothing else."""

from __future__ import annotations

from types import new_class
from typing import TYPE_CHECKING, Any

from django.contrib.admin import AdminSite, ModelAdmin, SimpleListFilter
from django.contrib.admin.apps import AdminConfig

if TYPE_CHECKING:
    from django.http import HttpRequest

    AnyModelAdmin = ModelAdmin[Any]
else:
    AnyModelAdmin = ModelAdmin


class ListedLookups(AnyModelAdmin):
    """Refuses lookups in addresses but those of its filters, and `extra_lookups`.

    Django allows them on every field of a model. By how many rows are found they tell, letter by
    letter, what no page shows: keys of sessions, digests, secrets of second factors.
    """

    extra_lookups: tuple[str, ...] = ()

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Whether a list may be narrowed by a parameter of its address."""
        if lookup in self.extra_lookups:
            return True
        return super().lookup_allowed(lookup, value, request) and any(
            lookup == name or lookup.startswith(f"{name}__") for name in self._filtered_by(request)
        )

    def _filtered_by(self, request: HttpRequest) -> list[str]:
        names = [_name(each) for each in self.get_list_filter(request)]
        return [*names, self.date_hierarchy] if self.date_hierarchy else names


def _name(filtered: Any) -> str:
    """Return what a filter's parameters begin with."""
    if isinstance(filtered, type) and issubclass(filtered, SimpleListFilter):
        return str(filtered.parameter_name)
    return str(filtered if isinstance(filtered, str) else filtered[0])


class Site(AdminSite):
    """Django's admin site; the rule holds for what other applications register, too."""

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register models with an admin that refuses lookups which it does not list."""
        admin_class = admin_class or ModelAdmin
        strict = new_class(admin_class.__name__, (ListedLookups, admin_class))
        super().register(model_or_iterable, strict, **options)


class SiteConfig(AdminConfig):
    """Django's admin, with this site."""

    default_site = "ragsite.admin_site.Site"
