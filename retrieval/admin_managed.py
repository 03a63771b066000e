"""What somebody finds in the admin: only what is in the collections they manage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from retrieval.models import Collection, DocumentVersion

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

    from retrieval.models import CollectionQuerySet

    # Generic for type checkers only.
    AnyModelAdmin = admin.ModelAdmin[Model]
else:
    AnyModelAdmin = object


def managed(request: HttpRequest) -> CollectionQuerySet:
    """Return the collections that whoever asks manages."""
    return Collection.objects.managed_by(request.user)


def managed_versions(request: HttpRequest) -> QuerySet[DocumentVersion]:
    """Return the versions of all documents in these collections."""
    return DocumentVersion.objects.filter(document__collection__in=_keys(request))


def let_manage(user: User | AnonymousUser, collection: Collection) -> None:
    """Name who made a collection as its manager, unless they manage it anyway."""
    if user.pk and not Collection.objects.managed_by(user).filter(pk=collection.pk).exists():
        collection.managers.add(user.pk)


class ManagedAdmin(AnyModelAdmin):
    """An admin of what belongs to a collection: lists, pages, actions and choices."""

    collection_path = "collection"
    """The lookup from the model to its collection."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Keep what is in the collections that whoever asks manages."""
        found = super().get_queryset(request)
        return found.filter(**{f"{self.collection_path}__in": _keys(request)})

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer only these collections."""
        if db_field.related_model is Collection:
            kwargs["queryset"] = managed(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class ManagedCollectionFilter(admin.RelatedFieldListFilter):
    """By collection, of those that whoever asks manages."""

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, Any]]:
        """Offer the collections by their names."""
        return [(str(key), name) for key, name in managed(request).values_list("pk", "name")]


def _keys(request: HttpRequest) -> QuerySet[Any, Any]:
    return managed(request).order_by().values("pk")
