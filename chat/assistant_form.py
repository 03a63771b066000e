"""The form of an assistant: every setting a field, and what is wrong said beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q

from chat.models import Assistant, Audience
from retrieval.backends.generation import GenerationSettings, GenerationSettingsError
from retrieval.models import Collection
from retrieval.search import SearchSettings, SearchSettingsError

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    # Generic for type checkers only.
    AssistantModelForm = forms.ModelForm[Assistant]
else:
    AssistantModelForm = forms.ModelForm

MOST_QUESTIONS = 12
QUESTION_CHARS = 300
# The fields of the form that make up `generation`.
PARAMETERS = tuple(GenerationSettings.model_fields)


def parameter(field: type[forms.FloatField | forms.IntegerField], name: str) -> forms.Field:
    """Return the field of a parameter; what it may be is for GenerationSettings to say."""
    return field(
        required=False,
        widget=forms.NumberInput(attrs={"step": "any" if field is forms.FloatField else "1"}),
        help_text=f"{GenerationSettings.model_fields[name].description} Blank: as the provider"
        " has it.",
    )


def collections_for(user: User, assistant: Assistant) -> QuerySet[Collection]:
    """Return the collections to choose from: those a person sees, and those already chosen."""
    seen = Collection.objects.visible_to(user).order_by()
    already = Collection.objects.filter(assistant=assistant.pk)
    return Collection.objects.filter(Q(pk__in=seen.values("pk")) | Q(pk__in=already.values("pk")))


class AssistantForm(AssistantModelForm):
    """An assistant; suggested questions are written one a line, parameters a field each."""

    suggested_questions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 80}),
        help_text="Offered on an empty page, one a line.",
    )
    temperature = parameter(forms.FloatField, "temperature")
    top_p = parameter(forms.FloatField, "top_p")
    max_tokens = parameter(forms.IntegerField, "max_tokens")
    frequency_penalty = parameter(forms.FloatField, "frequency_penalty")
    presence_penalty = parameter(forms.FloatField, "presence_penalty")
    seed = parameter(forms.IntegerField, "seed")

    user: Any = None
    """Who fills it in: the admin sets it on the class that it makes for a request."""
    may_publish = False

    class Meta:
        model = Assistant
        exclude = ("is_default", "generation")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Absent where whoever opens the page may only look.
        if "collections" in self.fields:
            chosen: Any = self.fields["collections"]
            chosen.queryset = collections_for(self.user, self.instance)
        if "suggested_questions" in self.fields:
            questions = self.instance.suggested_questions
            self.initial["suggested_questions"] = "\n".join(questions)
        self.initial |= self.instance.generation

    def clean_suggested_questions(self) -> list[str]:
        """Read the lines as a list."""
        lines = self.cleaned_data["suggested_questions"].splitlines()
        questions = [line.strip() for line in lines if line.strip()]
        if len(questions) > MOST_QUESTIONS:
            raise ValidationError(f"At most {MOST_QUESTIONS} questions.")
        for number, question in enumerate(questions, 1):
            if len(question) > QUESTION_CHARS:
                raise ValidationError(
                    f"Question {number} has {len(question)} characters; at most"
                    f" {QUESTION_CHARS} are shown."
                )
        return questions

    def clean_search_settings(self) -> dict[str, Any]:
        """Refuse what no search could be told, naming the field."""
        given = self.cleaned_data["search_settings"]
        chosen: dict[str, Any] = {} if given is None else given
        try:
            SearchSettings.parse(chosen)
        except SearchSettingsError as error:
            raise ValidationError(str(error)) from error
        return chosen

    def clean_visibility(self) -> str:
        """Return who may use it; it may stay public."""
        chosen: str = self.cleaned_data["visibility"]
        published = chosen == Audience.PUBLIC and "visibility" in self.changed_data
        if published and not self.may_publish:
            raise ValidationError("Only an administrator may make an assistant public.")
        return chosen

    def clean(self) -> dict[str, Any] | None:
        """Put the parameters together, and say beside each what is wrong with it."""
        cleaned = super().clean()
        given = {name: self.cleaned_data.get(name) for name in PARAMETERS}
        for name, value in given.items():
            try:
                GenerationSettings.parse({name: value})
            except GenerationSettingsError as error:
                self.add_error(name, f"{error.message}.")
        self.instance.generation = {n: value for n, value in given.items() if value is not None}
        return cleaned
