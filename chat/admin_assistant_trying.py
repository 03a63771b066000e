"""Trying an assistant in the admin, as its form stands: nothing of it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, JsonResponse, StreamingHttpResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from chat import trying
from chat.answering.question import Question
from chat.client_messages import Asking
from chat.models import Assistant
from chat.refusals import describe
from retrieval.backends.generation import GenerationSettings
from retrieval.search import Scope, SearchSettings

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase

    # Generic for type checkers only.
    AssistantModelAdmin = admin.ModelAdmin[Assistant]
else:
    AssistantModelAdmin = admin.ModelAdmin

TRY = "chat_assistant_try"
TRY_NEW = "chat_assistant_try_new"


class TryingAdmin(AssistantModelAdmin):
    """The box for questions beside the form."""

    def get_urls(self) -> list[URLPattern]:
        """Add what answers a question by a form."""
        view = self.admin_site.admin_view(require_POST(self.try_view))
        return [
            path("try/", view, name=TRY_NEW),
            path("<uuid:assistant_id>/try/", view, name=TRY),
            *super().get_urls(),
        ]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Add where a question is sent to, for those who may send one."""
        assistant = self.get_object(request, object_id) if object_id else None
        context: dict[str, Any] = {}
        if self.may_try(request, assistant):
            args = [assistant.pk] if assistant else []
            context["try_url"] = reverse(f"admin:{TRY if assistant else TRY_NEW}", args=args)
        context |= extra_context or {}
        response: HttpResponse = super().changeform_view(request, object_id, form_url, context)
        return response

    def may_try(self, request: HttpRequest, assistant: Assistant | None) -> bool:
        """Whether somebody may try what they could as well save."""
        if assistant is None:
            return self.has_add_permission(request)
        return self.has_change_permission(request, assistant)

    def try_view(self, request: HttpRequest, assistant_id: UUID | None = None) -> HttpResponseBase:
        """Answer a question by the settings of the form, a frame a line, or say what is wrong.

        It draws on what whoever asks may see, and ends when they leave.
        """
        assistant = self.get_object(request, str(assistant_id)) if assistant_id else None
        if assistant_id and assistant is None:
            raise Http404
        if not self.may_try(request, assistant):
            raise PermissionDenied
        try:
            asked = Asking(text=request.POST.get("question", ""))
        except ValidationError as error:
            _, message = describe(error.errors()[0]["type"], "text")
            return wrong({"Question": [message]})
        kind = self.get_form(request, assistant, change=assistant is not None)
        form: Any = kind(request.POST, instance=assistant)
        if not form.is_valid():
            return wrong(
                {
                    str(form[name].label) if name in form.fields else "": list(errors)
                    for name, errors in form.errors.items()
                }
            )
        question = question_of(request.user, asked.text, form)  # type: ignore[arg-type]
        return StreamingHttpResponse(
            trying.lines(question, request.user),  # type: ignore[arg-type]
            content_type="application/x-ndjson",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


def wrong(errors: dict[str, list[str]]) -> JsonResponse:
    """Return what is wrong with a form, by the names of its fields."""
    return JsonResponse({"errors": errors}, status=422)


def question_of(user: User, text: str, form: Any) -> Question:
    """Return a question to the assistant that a valid form describes."""
    described: Assistant = form.instance
    collections = form.cleaned_data.get("collections") or ()
    return Question(
        text=text,
        scope=Scope(user, tuple(collection.pk for collection in collections) or None),
        instructions=described.instructions,
        settings=SearchSettings.parse(described.search_settings),
        model=described.model or None,
        generation=GenerationSettings.parse(described.generation),
        rewrite=described.rewrites,
        without_sources=described.answers_without_sources,
    )
