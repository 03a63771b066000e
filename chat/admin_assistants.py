"""Assistants for administrators to make, to try, and to bring back as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Max, Q
from django.urls import URLPattern, path

from chat.admin_assistant_trying import TryingAdmin
from chat.admin_assistant_versions import VersionsAdmin
from chat.admin_people import PEOPLE, AssistantPeopleChoice, AssistantPeopleView
from chat.assistant_form import PARAMETERS, AssistantForm
from chat.models import Assistant, Audience
from chat.models.assistants import PUBLISH
from retrieval.models import Collection, Visibility

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

# Collections that not everyone may see who may use an assistant of that audience.
HIDDEN_FROM = {
    Audience.PUBLIC: (Visibility.RESTRICTED, Visibility.SIGNED_IN),
    Audience.SIGNED_IN: (Visibility.RESTRICTED,),
}


class AssistantAdmin(VersionsAdmin, TryingAdmin):
    """Personas: instructions, collections, search settings, a model, and who may use them."""

    form = AssistantForm
    list_display = ("name", "visibility", "version_number", "is_default", "greeting")
    list_filter = ("visibility", "collections")
    search_fields = ("name", "instructions")
    filter_horizontal = ("collections",)
    actions = ("make_default",)
    fieldsets = (
        (None, {"fields": ("name", "greeting", "suggested_questions")}),
        (
            "Who may use it",
            {
                "fields": ("visibility", "users", "groups"),
                "description": "Whoever may change assistants may use them all. What is changed"
                " here counts at once.",
            },
        ),
        (
            "What it answers from",
            {
                "fields": (
                    "collections",
                    "search_settings",
                    "rewrites",
                    "answers_without_sources",
                ),
                "description": "Nobody finds what they may not see, whatever is chosen here."
                " Search settings are JSON, as docs/search.md describes them.",
            },
        ),
        ("How it answers", {"fields": ("instructions", "model", "allowed_models")}),
        (
            "Parameters of the model",
            {
                "classes": ("collapse",),
                "fields": PARAMETERS,
                "description": "Not every model takes all of them; one that does not answers with"
                " an error, as “Try it” shows.",
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Assistant]:
        """Add the number of the version that answers now."""
        return super().get_queryset(request).annotate(newest=Max("versions__number"))

    def get_urls(self) -> list[URLPattern]:
        """Add the search for people and groups to name."""
        view = self.admin_site.admin_view(AssistantPeopleView.as_view(admin_site=self.admin_site))
        return [path("people/", view, name=PEOPLE), *super().get_urls()]

    def get_fieldsets(self, request: HttpRequest, obj: Assistant | None = None) -> Any:
        """Show who may only look the parameters as they are stored: they are no fields then."""
        fieldsets: Any = super().get_fieldsets(request, obj)
        if self.may_try(request, obj):
            return fieldsets
        return [
            (name, {**options, "fields": ("generation",)})
            if options["fields"] == PARAMETERS
            else (name, options)
            for name, options in fieldsets
        ]

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Tell the form who fills it in."""
        form: Any = super().get_form(request, *args, **kwargs)
        form.user = request.user
        form.may_publish = request.user.has_perm(PUBLISH)
        return form

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Look people and groups up while their names are typed."""
        if db_field.name in ("users", "groups"):
            kwargs["widget"] = AssistantPeopleChoice(db_field, self.admin_site)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Give what has been saved a number, and warn of collections that its users may not see."""
        super().save_related(request, form, formsets, change)
        before = form.instance.version
        version = form.instance.record_version(request.user)
        if before and version != before:
            self.message_user(request, f"Version {version.number} answers from now on.")
        if hidden := hidden_from_users(form.instance):
            names = ", ".join(f"“{name}”" for name in hidden)
            self.message_user(
                request, f"Not everyone who may use it finds what is in {names}.", level="warning"
            )

    @admin.display(description="Version", ordering="newest", empty_value="–")
    def version_number(self, assistant: Assistant) -> int | None:
        """Which version answers now."""
        number: int | None = getattr(assistant, "newest", None)
        return number

    @admin.action(description="Make it the default assistant", permissions=["change"])
    def make_default(self, request: HttpRequest, queryset: QuerySet[Assistant]) -> None:
        """Let the chosen assistant answer where no other is named; there is one at a time."""
        if queryset.count() != 1:
            self.message_user(request, "Choose exactly one assistant.", level="warning")
            return
        chosen = queryset.get()
        with transaction.atomic():
            Assistant.objects.filter(~Q(pk=chosen.pk), is_default=True).update(is_default=False)
            Assistant.objects.filter(pk=chosen.pk).update(is_default=True)
        self.message_user(request, f"“{chosen}” is the default assistant now.")


def hidden_from_users(assistant: Assistant) -> list[str]:
    """Return the names of its collections that are open to fewer people than it is."""
    hidden = HIDDEN_FROM.get(Audience(assistant.visibility), ())
    own = Collection.objects.filter(assistant=assistant, visibility__in=hidden)
    return list(own.order_by("name").values_list("name", flat=True))
