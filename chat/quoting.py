"""Answers that only quote: which documents their words are taken from.

Whoever may no longer see one of these reads a notice in place of the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext

from chat.frames import SearchResults
from chat.models import ACTIVE, Candidate, Citation, RunState
from retrieval import backends
from retrieval.backends.base import QUOTING

if TYPE_CHECKING:
    from uuid import UUID

    from chat.models import Message, Run
    from chat.runlog import RunLog

# Of these runs it is not stored which model wrote.
UNSAID = (*ACTIVE, RunState.INTERRUPTED)


def hidden_answer() -> str:
    """Return what stands in place of an answer."""
    return gettext("This answer quoted documents you may no longer see.")


def only_quotes(run: Run) -> bool:
    """Whether a run's answer is made of sentences of documents, not of a model's words."""
    if run.state in UNSAID:
        return backends.generator().quotes_only
    return run.model == QUOTING


def quoted_versions(message: Message) -> set[UUID]:
    """Return the versions of documents that an answer, as `evidence.messages` has it, may quote.

    Those are what it cites, and if it was not completed what it was given: a sentence may lack its
    mark yet.
    """
    versions = {each.version_id for each in message.citations.all() if each.version_id}
    if message.run.state != RunState.COMPLETED:
        given = (each for each in message.run.candidates.all() if each.index is not None)
        versions |= {each.chunk.version_id for each in given if each.chunk}
    return versions


def quoted_documents(run: Run) -> set[str]:
    """Return the documents that a stored answer may quote, by the same rule."""
    cited = Citation.objects.filter(message=run.answer_id, version__isnull=False)
    documents = {*cited.order_by().values_list("version__document", flat=True)}
    if run.state != RunState.COMPLETED:
        given = Candidate.objects.filter(run=run, index__isnull=False, chunk__isnull=False)
        documents |= {*given.order_by().values_list("chunk__version__document", flat=True)}
    return {str(document) for document in documents}


def quoted_so_far(log: RunLog) -> set[str]:
    """Return the documents that an answer of this process may quote, by the same rule."""
    if log.outcome and log.outcome["state"] == RunState.COMPLETED:
        return {citation.document_id for citation in log.citations}
    found = (frame for frame in log.frames if isinstance(frame, SearchResults))
    return {
        source.document_id for each in found for source in each.results if source.index is not None
    }
