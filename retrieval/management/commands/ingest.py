"""`manage.py ingest`: put files, folders and what stands at addresses into a collection."""

from __future__ import annotations

import asyncio
import time
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.core.management import CommandError, CommandParser

from retrieval.ingestion.archives import Taken
from retrieval.ingestion.folders import Chosen, expand, find
from retrieval.ingestion.metadata import MetadataError, from_pairs
from retrieval.ingestion.taking import Intake
from retrieval.ingestion.waiting import wait
from retrieval.ingestion.watching import WatchError
from retrieval.management import manifest
from retrieval.management.following import Follower, watch
from retrieval.management.outcomes import Outcome, failure, line, outcomes, summary
from retrieval.management.ready import ReadyCommand
from retrieval.models import ENDED, Collection, Visibility

STOPPED = "Stopped. What is queued goes on when a worker runs."


class Command(ReadyCommand):
    help = "Put files, folders and what stands at addresses into a collection."

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("paths", nargs="*", metavar="PATH", help="File, folder or pattern.")
        add(
            "--url", dest="urls", action="extend", nargs="+", default=[], metavar="URL",
            help="Addresses that the worker fetches files from.",
        )  # fmt: skip
        add("--collection", metavar="NAME", help="Default: the folder's name.")
        add(
            "--visibility", choices=Visibility.values,
            help="Of the collection, if it is new: who may search it. Default: signed_in.",
        )  # fmt: skip
        add(
            "--include", action="append", default=[], metavar="PATTERN",
            help="Of folders take only this, as *.pdf or reports/**; may be repeated.",
        )  # fmt: skip
        add(
            "--exclude", action="append", default=[], metavar="PATTERN",
            help="Of folders leave this out, as drafts/ or *.tmp; may be repeated.",
        )  # fmt: skip
        add("--hidden", action="store_true", help="Take hidden files too.")
        add(
            "--metadata", action="append", default=[], metavar="KEY=VALUE",
            help="Of every document, for filters; may be repeated. A JSON value is not text.",
        )  # fmt: skip
        add(
            "--user",
            metavar="NAME",
            help="Whose uploads they are, and who manages a new collection.",
        )
        add("--wait", action="store_true", help="Until all ended, working if no worker does.")
        add(
            "--check", type=_manifest, metavar="MANIFEST",
            help="Report its entries, each as one file. Implies --wait.",
        )  # fmt: skip
        add("--watch", action="store_true", help="Follow what happens in the folders.")
        add(
            "--keep-removed", action="store_true",
            help="With --watch: keep documents whose files vanish.",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        expected: dict[Path, manifest.Entry] = options["check"] or {}
        roots = _roots(options["paths"])
        chosen = Chosen(options["include"], options["exclude"], hidden=options["hidden"])
        files = list(find(roots, chosen))
        if expected:
            wanted = {path.resolve() for path in expected}
            files = [file for file in files if file.path.resolve() in wanted]
        if options["watch"]:
            _refuse_unwatchable(roots, options)
        elif not (files or options["urls"]):
            raise CommandError("There are no files to ingest.")
        metadata, user = _metadata(options["metadata"]), _user(options["user"])
        name = _name(options["collection"], roots, options["urls"])
        intake = Intake(
            metadata=metadata,
            user=user,
            collection=_collection(name, options["visibility"], user),
            unpack=not expected,
        )
        if options["watch"]:
            self.follow(roots, chosen, intake, options)
            return
        try:
            taken = [each for file in files for each in intake.take(file)]
            taken += intake.fetch(options["urls"])
            if options["wait"] or expected:
                asyncio.run(wait(_versions(taken), self.show_progress))
        except KeyboardInterrupt:
            raise CommandError(STOPPED) from None
        self.report(outcomes(taken, expected), time.monotonic() - began, checked=bool(expected))

    def follow(
        self, roots: Sequence[Path], chosen: Chosen, intake: Intake, options: dict[str, Any]
    ) -> None:
        """Watch folders until Ctrl-C, telling what happens as it does."""
        began = time.monotonic()

        def tell(found: Outcome, text: str) -> None:
            if self.json:
                self.emit(found)
            else:
                self.say(text)

        follower = Follower(tell, wait=options["wait"])
        for taken in intake.fetch(options["urls"]):
            follower.taken(taken)
        folders = [root.resolve() for root in roots]
        self.say(f"Watching {', '.join(map(str, folders))}. Ctrl-C ends it.")
        try:
            asyncio.run(
                watch(folders, chosen, intake, follower, keep_removed=options["keep_removed"])
            )
        except WatchError as error:
            raise CommandError(str(error)) from error
        counts = {**follower.counts, "seconds": round(time.monotonic() - began, 2)}
        if self.json:
            self.emit({"summary": counts})
        told = ", ".join(f"{count} {status}" for status, count in follower.counts.items())
        self.say(f"Stopped watching: {told or 'nothing happened'}.")

    def show_progress(self, stages: Counter[str], chunks: int) -> None:
        """Draw how far the files are, on a terminal only."""
        if self.stderr.isatty() and (total := stages.total()):
            ended = sum(stages[stage] for stage in ENDED)
            bar = "█" * (20 * ended // total)
            text = f"\r{bar:░<20} {ended} of {total} files, {chunks} chunks"
            self.stderr.write(f"{text:<60}", style_func=str, ending="\n" if ended == total else "")
            self.stderr.flush()

    def report(self, files: Sequence[Outcome], seconds: float, *, checked: bool) -> None:
        """Print a line a file, or everything as JSON; raise CommandError if something failed."""
        if self.json:
            self.emit({"files": files, "summary": summary(files, seconds)})
        else:
            for file in files:
                self.say(line(file))
        if wrong := failure(files, checked=checked):
            raise CommandError(wrong)


def _versions(taken: Sequence[Taken]) -> list[Any]:
    return [each.upload.version.pk for each in taken if each.upload is not None]


def _manifest(path: str) -> dict[Path, manifest.Entry]:
    try:
        return manifest.load(Path(path))
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _roots(patterns: Sequence[str]) -> list[Path]:
    """Return what the patterns name; one that names nothing is told beside what the others do."""
    found = {pattern: expand(pattern) for pattern in patterns}
    if patterns and not any(found.values()):
        raise CommandError(f"There is no file or folder {patterns[0]}.")
    return [path for pattern in patterns for path in found[pattern] or [Path(pattern)]]


def _refuse_unwatchable(roots: Sequence[Path], options: dict[str, Any]) -> None:
    if options["check"]:
        raise CommandError("--check and --watch do not go together.")
    if not roots or not all(root.is_dir() for root in roots):
        raise CommandError("--watch needs folders, and nothing but folders.")


def _metadata(pairs: Sequence[str]) -> dict[str, Any]:
    try:
        return from_pairs(pairs)
    except MetadataError as error:
        raise CommandError(f"--metadata: {error}") from error


def _user(name: str | None) -> User | None:
    if name is None:
        return None
    if found := User.objects.filter(username=name, is_active=True).first():
        return found
    raise CommandError(f"There is no user {name}.")


def _name(name: str | None, roots: Sequence[Path], urls: Sequence[str]) -> str:
    """Return the collection's name: what was said, else of the folder, else of the site."""
    if not name and roots:
        name = (roots[0] if roots[0].is_dir() else roots[0].parent).resolve().name
    elif not name and urls:
        name = urlsplit(urls[0]).netloc
    return (name or "Documents").strip()[:200]


def _collection(name: str, visibility: str | None, user: User | None) -> Collection:
    collection, made = Collection.objects.get_or_create(
        name=name, defaults={"visibility": visibility or Visibility.SIGNED_IN}
    )
    if made and user:
        collection.managers.add(user)
    if visibility not in {None, collection.visibility}:
        raise CommandError(
            f"--visibility: the collection {name} is there already, and is"
            f" {collection.visibility}. Change that in the admin."
        )
    return collection
