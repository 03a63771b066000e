"""`manage.py index`: build, drop and list the vector indexes of an embedding space."""

from __future__ import annotations

import time
from typing import Any

from django.core.management import CommandError, CommandParser
from django.template.defaultfilters import filesizeformat

from retrieval.ingestion import indexes
from retrieval.management.choosing import find_space
from retrieval.management.ready import ReadyCommand
from retrieval.measures import MEASURES


class Command(ReadyCommand):
    help = "Build the vector index of a measure of distance; without one, list what is there."
    needs_model = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--measure", choices=list(MEASURES), help="What the index is for.")
        parser.add_argument(
            "--method", choices=indexes.METHODS, default="hnsw", help="Kind of index."
        )
        parser.add_argument(
            "--space", metavar="SPACE", help="Number or model; default: what is searched."
        )
        parser.add_argument("--drop", action="store_true", help="Drop the index instead.")

    def handle(self, *args: Any, **options: Any) -> None:
        space = find_space(options["space"])
        changed: dict[str, Any] | None = None
        if options["measure"]:
            measure, method = MEASURES[options["measure"]], options["method"]
            name = indexes.index_name(space, measure, method)
            began = time.monotonic()
            if options["drop"]:
                done = indexes.drop_index(space, measure, method)
                if not done:
                    raise CommandError(f"There is no index {name}.")
            else:
                self.say(f"Building {name} …")
                try:
                    done = indexes.build_index(space, measure, method)
                except indexes.CannotIndexError as error:
                    raise CommandError(str(error)) from error
                if not any(index.name == name for index in indexes.existing(space)):
                    raise CommandError(
                        f"Vectors of {space.dimensions:,} dimensions can be indexed for "
                        "hamming_distance and jaccard_distance only."
                    )
            changed = {
                "name": name,
                "status": ("dropped" if options["drop"] else "built") if done else "unchanged",
                "seconds": round(time.monotonic() - began, 2),
            }
        elif options["drop"]:
            raise CommandError("Say which index to drop: --measure.")
        self.report(changed, space.pk, indexes.existing(space))

    def report(
        self, changed: dict[str, Any] | None, space: int, found: list[indexes.Index]
    ) -> None:
        """Print what was done and what is there."""
        if self.json:
            listed = [vars(index) for index in found]
            self.emit({"space": space, "index": changed, "indexes": listed})
            return
        if changed:
            self.say(f"{changed['name']}: {changed['status']} ({changed['seconds']} s)")
        for index in found:
            size = filesizeformat(index.bytes).replace("\xa0", " ")
            state = size if index.valid else "not whole: build it again"
            self.say(f"{index.measure} ({index.method}): {state}")
        if not found:
            self.say("There is no index.")
