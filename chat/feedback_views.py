"""Saying whether an answer helped, changing that, and taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods

from chat.feedback import give, own_answers
from chat.models import Feedback, Message, Reason
from chat.views import visitor_required

if TYPE_CHECKING:
    from uuid import UUID

    from chat.views import VisitorRequest

    # Generic for type checkers only.
    FeedbackModelForm = forms.ModelForm[Feedback]
else:
    FeedbackModelForm = forms.ModelForm


class FeedbackForm(FeedbackModelForm):
    """What somebody says of an answer; a reason is one against it."""

    helpful = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes"
    )

    class Meta:
        model = Feedback
        fields = ("helpful", "reason", "comment")


@require_http_methods(["GET", "POST", "DELETE"])
@visitor_required
def feedback(request: VisitorRequest, message_id: UUID) -> HttpResponse:
    """Show what somebody said of an answer; POST says or changes it, DELETE takes it back.

    A thumb by itself offers to say more; what is said with a reason or a comment is thanked for.
    """
    answer = get_object_or_404(own_answers(request.user), pk=message_id)
    given = Feedback.objects.filter(message=answer, user=request.user).first()
    if request.method == "POST":
        return _save(request, answer, given)
    if request.method == "DELETE" and given is not None:
        given.delete()
        given = None
    asking = given is not None and "change" in request.GET
    return _show(request, answer, given, asking=asking)


def _save(request: VisitorRequest, answer: Message, given: Feedback | None) -> HttpResponse:
    form = FeedbackForm(request.POST, instance=given or Feedback(message=answer, user=request.user))
    if not form.is_valid():
        text = " ".join(str(error) for errors in form.errors.values() for error in errors)
        return HttpResponse(text, content_type="text/plain; charset=utf-8", status=422)
    values = {name: form.cleaned_data[name] for name in FeedbackForm.Meta.fields}
    saved = give(answer, request.user, **values)
    said_all = "more" in request.POST
    return _show(request, answer, saved, asking=not said_all, thanked=said_all)


def _show(
    request: VisitorRequest, answer: Message, given: Feedback | None, **context: bool
) -> HttpResponse:
    shown = {"message": answer, "feedback": given, "reasons": Reason, **context}
    return render(request, "chat/_feedback.html", shown)
