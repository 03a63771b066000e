"""`manage.py retention`: let go of what is kept no longer, or say what that is."""

from __future__ import annotations

from typing import Any

from django.core.management import CommandError, CommandParser

from retrieval import expiry
from retrieval.ingestion import retention
from retrieval.management.ready import ReadyCommand


class Command(ReadyCommand):
    help = "Let go of what is kept no longer, as the settings say; the worker does so every hour."
    needs_model = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Only say what would go.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dry_run"]:
            found = expiry.preview()
        else:
            removed = expiry.enforce()
            if removed is None:
                raise CommandError("It is being done now, by a worker or another command.")
            found = removed
            retention.enforce()
        kept = {kind.name: kind.until() for kind in expiry.kinds}
        if self.json:
            listed = [
                {"kind": name, "before": kept[name], "rows": rows} for name, rows in found.items()
            ]
            self.emit({"removed": not options["dry_run"], "kinds": listed})
            return
        for name, rows in found.items():
            until = kept[name]
            since = "kept" if until is None else f"before {until:%Y-%m-%d %H:%M}"
            self.say(f"{rows:>8,} {name} ({since})")
