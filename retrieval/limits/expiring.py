"""How long it is kept what people used: as long as it counts, and a day to look at it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from retrieval.expiry import Kind
from retrieval.limits.meters import today
from retrieval.limits.models import Charge, StoredFile


def _yesterday() -> datetime:
    return today() - timedelta(days=1)


def _charges(until: datetime) -> QuerySet[Any]:
    return Charge.objects.filter(asked_at__lt=until).order_by("pk")


def _files_that_are_gone(until: datetime) -> QuerySet[Any]:
    return StoredFile.objects.filter(version=None, uploaded_at__lt=until).order_by("pk")


KINDS = (
    Kind("charges of questions", _yesterday, _charges),
    Kind("counts of deleted files", _yesterday, _files_that_are_gone),
)
