"""What a new installation begins with: its administrator, sample documents, an assistant."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import File
from django.db import transaction

from chat.models import Assistant
from retrieval.ingestion.uploads import add_document
from retrieval.models import Collection

SAMPLES = settings.BASE_DIR / "retrieval" / "samples"
FILES = ("employee-handbook.pdf", "espresso-machine-manual.md", "bibliotheksordnung.docx")
GREETING = "Ask about the sample documents, or upload your own."
QUESTIONS = [
    "How many days of paid leave do Larkfield employees have?",
    "When must expense claims be submitted?",
    "How long does descaling the espresso machine take?",
    "Wie lange ist die Leihfrist für DVDs?",
]


@dataclass(frozen=True)
class Administrator:
    """Who to sign in as; the password is known only just after it was generated."""

    username: str
    password: str = ""
    is_new: bool = False


def administrator() -> Administrator:
    """Return the first administrator; in a database without users, make one and the samples."""
    if not User.objects.exists():
        with transaction.atomic():
            return begin()
    user = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    return Administrator(user.username if user else "")


def begin() -> Administrator:
    """Make the administrator, the collection of samples, and the default assistant."""
    chosen = os.environ.get("DJANGO_SUPERUSER_PASSWORD", "")
    password = chosen or secrets.token_urlsafe(12)
    user = User.objects.create_superuser("admin", password=password)
    samples = Collection.objects.create(
        name="Samples", description="Documents to try the site with; delete them at any time."
    )
    for name in FILES:
        with (SAMPLES / name).open("rb") as file:
            add_document(samples, name, File(file), user)
    assistant = Assistant.objects.create(
        name="Assistant", greeting=GREETING, suggested_questions=QUESTIONS, is_default=True
    )
    assistant.record_version(user)
    return Administrator(user.username, "" if chosen else password, is_new=True)
