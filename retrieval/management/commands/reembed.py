"""`manage.py reembed`: embed all documents by another model, and search by it when that is done."""

from __future__ import annotations

import asyncio
from typing import Any

from django.conf import settings
from django.core.management import CommandError, CommandParser

from retrieval import backends
from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.ingestion import spaces
from retrieval.ingestion.tasks import begin_filling
from retrieval.ingestion.worker import is_running, work
from retrieval.management.choosing import find_space
from retrieval.management.ready import ReadyCommand
from retrieval.models import EmbeddingSpace, SpaceState

POLL_SECONDS = 0.3


class Command(ReadyCommand):
    help = (
        "Embed the documents by another model in the background, while the present one is "
        "searched; switch to it when that is complete."
    )
    needs_model = False

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--model", help="Model to embed by; default: that of the settings.")
        what.add_argument(
            "--switch", metavar="SPACE", help="Search in this space, number or model."
        )
        what.add_argument(
            "--rollback", action="store_true", help="Search in the space that was searched before."
        )
        what.add_argument("--cancel", action="store_true", help="Stop filling.")
        what.add_argument("--delete", metavar="SPACE", help="Delete a space with its vectors.")
        what.add_argument("--status", action="store_true", help="Show the spaces only.")
        parser.add_argument(
            "--embedder", choices=list(settings.EMBEDDERS), help="What serves the model."
        )
        parser.add_argument("--dimensions", type=int, help="Length of its vectors.")
        parser.add_argument("--max-tokens", type=int, help="The longest text it reads.")
        parser.add_argument("--query-prefix", help="What its questions begin with.")
        parser.add_argument("--passage-prefix", help="What its passages begin with.")
        parser.add_argument(
            "--wait", action="store_true", help="Until it is searched, working if no worker does."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            space = self.begin(options)
        except (spaces.SpaceError, BackendError) as error:
            raise CommandError(str(error)) from error
        if space is not None and options["wait"]:
            try:
                asyncio.run(self.wait(space))
            except KeyboardInterrupt:
                raise CommandError("Stopped. The filling goes on when a worker runs.") from None
        self.report()
        if space is not None:
            space.refresh_from_db()
            if space.state == SpaceState.FAILED or (
                options["wait"] and space.state != SpaceState.ACTIVE
            ):
                raise CommandError(space.error or f"{space} is not searched.")

    def begin(self, options: dict[str, Any]) -> EmbeddingSpace | None:
        """Do what was asked for; return the space that is to be searched, if one is."""
        if options["status"]:
            return None
        if options["cancel"]:
            for space in EmbeddingSpace.objects.filter(state=SpaceState.FILLING):
                spaces.cancel(space)
            return None
        if options["delete"]:
            spaces.delete(find_space(options["delete"]))
            return None
        if options["rollback"]:
            chosen = spaces.previous()
            if chosen is None:
                raise CommandError("No other space has been searched before.")
        elif options["switch"]:
            chosen = find_space(options["switch"])
        else:
            chosen = new_space(options)
        begin_filling(chosen)
        return chosen

    async def wait(self, space: EmbeddingSpace) -> None:
        """Return when a space is filled no more; works the queue itself when no worker does."""
        stop = asyncio.Event()
        own: asyncio.Task[None] | None = None
        shown = None
        try:
            while True:
                await space.arefresh_from_db()
                if space.state != SpaceState.FILLING:
                    return
                progress = await in_thread(spaces.progress, space)
                if progress != shown:
                    self.say(f"{progress.embedded} of {progress.total} chunks")
                    shown = progress
                if own is None and not await in_thread(is_running):
                    own = asyncio.create_task(work(stop), name="own worker")
                await asyncio.sleep(POLL_SECONDS)
        finally:
            stop.set()
            if own is not None:
                await own

    def report(self) -> None:
        """Print every space with how far it is."""
        rows = [_row(space) for space in EmbeddingSpace.objects.order_by("pk")]
        if self.json:
            self.emit({"spaces": rows})
            return
        for row in rows:
            error = f" {row['error']}" if row["error"] else ""
            self.say(
                f"{row['id']}: {row['model']}, {row['dimensions']} dimensions, {row['state']}, "
                f"{row['embedded']} of {row['chunks']} chunks.{error}"
            )
        if not rows:
            self.say("Nothing is embedded yet.")


def new_space(options: dict[str, Any]) -> EmbeddingSpace:
    """Return the space of a model, made of the settings and of what the command is told.

    Raises CommandError, BackendError.
    """
    config = _config(options["model"], options["embedder"])
    told = {
        name: options[name]
        for name in ("model", "dimensions", "max_tokens", "query_prefix", "passage_prefix")
        if options[name] is not None and "model" in config.get("OPTIONS", {})
    }
    if options["model"] and told.get("model") != config.get("OPTIONS", {}).get("model"):
        # Another model than the settings': what they say of theirs does not hold for it.
        unknown: dict[str, Any] = {"dimensions": 0, "max_tokens": 0}
        told = unknown | {"query_prefix": None, "passage_prefix": None} | told
    try:
        embedder = backends.make(config, **told)
    except ImportError as error:
        raise CommandError(f"A package that {config['BACKEND']} needs is missing.") from error
    if options["model"] and embedder.model != options["model"]:
        raise CommandError(f"This embedder has one model, {embedder.model}; choose --embedder.")
    embedder.prepare()
    return spaces.space_of(embedder, {**config, "OPTIONS": config.get("OPTIONS", {}) | told})


def _config(model: str | None, chosen: str | None) -> dict[str, Any]:
    """Return the settings' entry that serves a model."""
    if chosen:
        return dict(settings.EMBEDDERS[chosen])
    configured: dict[str, Any] = settings.RAG_BACKENDS["embedder"]
    if model is None or "model" in configured.get("OPTIONS", {}):
        return dict(configured)
    if model == backends.embedder().model:
        return dict(configured)
    if model == "multilingual-e5-small":
        return dict(settings.EMBEDDERS["onnx"])
    return dict(settings.EMBEDDERS["cohere" if model.startswith("embed-") else "openai"])


def _row(space: EmbeddingSpace) -> dict[str, Any]:
    progress = spaces.progress(space)
    return {
        "id": space.pk,
        "model": space.model,
        "dimensions": space.dimensions,
        "state": space.state,
        "embedded": progress.embedded,
        "chunks": progress.total,
        "indexed": space.indexed,
        "error": space.error,
    }
