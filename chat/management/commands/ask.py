"""Ask a question on the command line, as a real run."""

from __future__ import annotations

import asyncio
import sys
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from pydantic import ValidationError

from chat import runs
from chat.client_messages import Ask
from chat.frames import Done, Error, SearchResults, Status, Token, WarningFrame
from chat.refusals import describe
from retrieval.management.ready import ReadyCommand


class Command(ReadyCommand):
    help = "Ask a question; prints the answer with its sources, or its frames as JSON lines."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", help="The question.")
        parser.add_argument("--conversation", type=UUID, help="Go on with this conversation.")
        parser.add_argument("--assistant", help="The name of an assistant that the user may use.")
        parser.add_argument(
            "--collection", action="append", help="Search only this collection (repeatable)."
        )
        parser.add_argument("--user", help="Ask as this user; otherwise as a superuser.")

    def handle(self, *args: Any, **options: Any) -> None:
        user = find_user(options["user"])
        try:
            ask = Ask(
                type="ask",
                text=options["text"],
                conversation=options["conversation"],
                assistant=options["assistant"],
                collections=options["collection"],
            )
        except ValidationError as error:
            first = error.errors()[0]
            raise CommandError(describe(first["type"], str(first["loc"][-1]))[1]) from error
        try:
            ended_well = asyncio.run(self.answer(user, ask, as_json=options["json"]))
        except runs.RunRefused as refused:
            raise CommandError(refused.message) from refused
        if not ended_well:
            sys.exit(1)

    async def answer(self, user: User, ask: Ask, *, as_json: bool) -> bool:
        """Print a run's frames as they come; return whether it ended with an answer."""
        run = await runs.start(user, ask)
        try:
            async for frame in runs.follow(user, run.id):
                if as_json:
                    self.stdout.write(frame.to_json())
                    self.stdout.flush()
                else:
                    self.show(frame)
                if isinstance(frame, Done | Error):
                    return isinstance(frame, Done)
        finally:
            await runs.stop(user, run.id)
        return False

    def show(self, frame: object) -> None:
        """Print a frame for reading."""
        match frame:
            case Status():
                self.stderr.write(self.style.NOTICE(frame.message))
            case WarningFrame():
                self.stderr.write(self.style.WARNING(frame.message))
            case SearchResults():
                self.sources = {source.index: source for source in frame.results if source.index}
            case Token():
                self.stdout.write(frame.text, ending="")
                self.stdout.flush()
            case Done():
                self.stdout.write("\n")
                for index in dict.fromkeys(citation.index for citation in frame.citations):
                    source = self.sources[index]
                    page = f", page {source.page}" if source.page else ""
                    self.stdout.write(f"[{index}] {source.title}{page}")
            case Error():
                self.stderr.write(self.style.ERROR(f"{frame.message} ({frame.code})"))


def find_user(name: str | None) -> User:
    """Return the user of that name, or the first superuser. Raises CommandError."""
    people = User.objects.filter(is_active=True)
    if name:
        if user := people.filter(username=name).first():
            return user
        raise CommandError(f"There is no user {name}.")
    if user := people.filter(is_superuser=True).order_by("id").first():
        return user
    raise CommandError("There is no superuser yet: run manage.py createsuperuser first.")
