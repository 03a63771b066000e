"""How commands name an embedding space: by its number, or by its model."""

from __future__ import annotations

from django.core.management import CommandError

from retrieval.models import EmbeddingSpace, SpaceState


def find_space(name: str | None) -> EmbeddingSpace:
    """Return a space by its number or its model, the one that is searched without a name.

    Raises CommandError if there is none, or more than one of that model.
    """
    if name is None:
        active = EmbeddingSpace.objects.filter(state=SpaceState.ACTIVE).first()
        if active is None:
            raise CommandError("Nothing is embedded yet.")
        return active
    spaces = EmbeddingSpace.objects.all()
    found = list(spaces.filter(pk=int(name)) if name.isdecimal() else spaces.filter(model=name))
    if not found:
        known = ", ".join(f"{space.pk}: {space}" for space in spaces) or "none"
        raise CommandError(f"There is no embedding space {name}. There are: {known}.")
    if len(found) > 1:
        numbers = ", ".join(str(space.pk) for space in found)
        raise CommandError(f"Several embedding spaces have the model {name}; say which: {numbers}.")
    return found[0]
