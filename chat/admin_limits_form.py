"""The form of a limit, whose quantities are written as people say them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError

from retrieval.limits.models import Limit, Scope
from retrieval.limits.quantities import QUANTITIES, STORAGE, UNLIMITED, UPLOADS, Quantity

if TYPE_CHECKING:
    # Generic for type checkers only.
    LimitModelForm = forms.ModelForm[Limit]
else:
    LimitModelForm = forms.ModelForm

LONGEST = 30
UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
NUMBER = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?B)?")


class QuantityField(forms.Field):
    """A number, with its unit if it is a size; “unlimited”, or nothing."""

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity
        example = "such as 500 MB or 2 GB" if quantity.is_size else "a whole number"
        super().__init__(
            label=quantity.label,
            required=False,
            widget=forms.TextInput(attrs={"maxlength": LONGEST}),
            help_text=f"{example[0].upper()}{example[1:]}; “unlimited”; or blank.",
        )

    def prepare_value(self, value: Any) -> Any:
        """Write a stored number as it may be typed; what was typed stays."""
        if not isinstance(value, int):
            return value
        if self.quantity.is_size and 0 < value < UNLIMITED:
            unit = max((name for name in UNITS if value % UNITS[name] == 0), key=UNITS.__getitem__)
            return f"{value // UNITS[unit]:,} {unit or 'B'}"
        return self.quantity.words(value)

    def to_python(self, value: Any) -> Any:
        """Read a number; None for nothing. Raises ValidationError."""
        text = re.sub(r"[\s,_’']", "", str(value or "")[:LONGEST]).upper()
        if not text:
            return None
        if text == "UNLIMITED":
            return UNLIMITED
        found = NUMBER.fullmatch(text)
        if found is None or (not self.quantity.is_size and not text.isdecimal()):
            raise ValidationError("Write a number, “unlimited”, or nothing.")
        number = float(found[1]) * UNITS[found[2] or ""] if found[2] else int(float(found[1]))
        if number >= UNLIMITED:
            raise ValidationError("That is too large: write “unlimited”.")
        return int(number)

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare numbers: the same one may be written in several ways."""
        try:
            return bool(self.to_python(data) != initial)
        except ValidationError:
            return True


class LimitForm(LimitModelForm):
    """Asks for the person or the group only where the limit is for one."""

    class Meta:
        model = Limit
        fields = ("scope", "user", "group", *(quantity.name for quantity in QUANTITIES))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for quantity in QUANTITIES:
            if quantity.name in self.fields:
                self.fields[quantity.name] = QuantityField(quantity)

    def clean(self) -> dict[str, Any]:
        """Keep the person or the group that the limit is for, and drop the other."""
        cleaned = super().clean() or {}
        for scope, field in ((Scope.PERSON, "user"), (Scope.GROUP, "group")):
            if cleaned.get("scope") != scope:
                cleaned[field] = None
            elif not cleaned.get(field) and field not in self.errors:
                self.add_error(field, f"Choose the {'person' if field == 'user' else 'group'}.")
        if cleaned.get("scope") in (Scope.GUEST, Scope.ADDRESS):
            for quantity in (UPLOADS, STORAGE):
                if cleaned.get(quantity.name) is not None:
                    self.add_error(quantity.name, "Guests upload nothing: leave this blank.")
        return cleaned
