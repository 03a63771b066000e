"""The form by which a person makes a token."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone

from chat.accounts.models import Scope

FOREVER = "0"
DAYS = (("30", "30 days"), ("90", "90 days"), ("365", "One year"), (FOREVER, "Until it is revoked"))


class TokenForm(forms.Form):
    """What a token is for, what it is good for, and for how long."""

    name = forms.CharField(max_length=100, help_text="What it is for, to tell it from others.")
    scopes = forms.MultipleChoiceField(
        label="Good for", choices=Scope.choices, widget=forms.CheckboxSelectMultiple
    )
    days = forms.ChoiceField(label="Works for", choices=DAYS, initial="90")

    def expires_at(self) -> datetime | None:
        """Return when the token that is asked for ends; None if never."""
        days = self.cleaned_data["days"]
        return None if days == FOREVER else timezone.now() + timedelta(days=int(days))
