"""Taking in files of the disk, and addresses: each by itself, with its reason if it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.core.files import File

from retrieval.ingestion.archives import Taken, add_file
from retrieval.ingestion.fetching import add_url
from retrieval.ingestion.folders import Found
from retrieval.ingestion.incoming import UploadError
from retrieval.ingestion.uploads import Upload
from retrieval.models import Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True)
class Intake:
    """Where files go, and what is said of all of them."""

    collection: Collection
    metadata: dict[str, Any]
    user: User | None = None
    """Whose uploads they are, and count as."""
    unpack: bool = True
    """Whether the files of a zip become documents."""

    def take(self, found: Found) -> Iterator[Taken]:
        """Add a file of the disk, or what is in it; yield what became of each, by its path."""
        path = found.path
        prefix = f"{found.folder}/{path.name}" if found.folder else path.name
        if path.exists() and not path.is_file():  # a pipe would be waited for
            yield Taken(str(path), error=UploadError("unreadable", "This is no regular file."))
            return
        try:
            with path.open("rb") as stream:
                for taken in add_file(
                    self.collection,
                    path.name,
                    File(stream),
                    self.user,
                    folder=found.folder,
                    metadata=self.metadata,
                    unpack=self.unpack,
                ):
                    yield replace(taken, path=f"{path}{taken.path.removeprefix(prefix)}")
        except FileNotFoundError:
            reason = "There is no such file or folder."
            yield Taken(str(path), error=UploadError("missing", reason))
        except OSError as error:
            reason = f"This file cannot be opened: {error.strerror}."
            yield Taken(str(path), error=UploadError("unreadable", reason))

    def _queue(self, url: str) -> Upload:
        return add_url(self.collection, url, self.user, metadata=self.metadata)

    def fetch(self, urls: Sequence[str]) -> Iterator[Taken]:
        """Queue the fetching of addresses; yield what became of each."""
        for url in urls:
            try:
                yield Taken(url, upload=self._queue(url))
            except UploadError as error:
                yield Taken(url, error=error)
