"""Saving the frames of several runs together."""

from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User

from chat import runstate
from chat.client_messages import Ask
from chat.frames import Citation, Done, SearchResults, Source, Token
from chat.models import Candidate, Message, Run, RunFrame, RunState
from chat.models import Citation as StoredCitation
from chat.runlog import RunLog
from chat.saving import Saver, save
from chat.storing import create
from retrieval.models import Chunk


async def begin(user: User) -> RunLog:
    """Store a run with nothing of its answer yet."""
    new = await create(user, Ask(type="ask", text="How high is the tower?"), "me")
    log = RunLog(new.run.id, new.run.answer_id)
    log.begin(new.first)
    return log


def source(chunk: UUID) -> Source:
    return Source(
        index=1, source_id=str(chunk), document_id=str(uuid4()), title="The tower", snippet="96 m"
    )


def citation(chunk: UUID) -> Citation:
    return Citation(
        **source(chunk).model_dump(include={"index", "source_id", "document_id", "title"}),
        quote="96 metres",
        span=(0, 3),
        is_new=True,
    )


def end(log: RunLog) -> None:
    done = Done(finish_reason="stop", answer=log.text, citations=log.citations)
    log.end(done, runstate.outcome(log.run, RunState.COMPLETED, done, "scripted"))


async def save_now(*logs: RunLog) -> None:
    await save([batch for log in logs if (batch := log.unsaved())])


async def test_frames_and_text_of_several_runs_are_saved(user: User) -> None:
    logs = [await begin(user), await begin(user)]
    for number, log in enumerate(logs):
        log.add(Token(text=f"Answer {number}."))
    await save_now(*logs)
    for number, log in enumerate(logs):
        stored = RunFrame.objects.filter(run=log.run).order_by("seq").values_list("seq", "payload")
        assert [(seq, payload["type"]) async for seq, payload in stored] == [
            (1, "status"),
            (2, "token"),
        ]
        assert (await Message.objects.aget(id=log.answer)).text == f"Answer {number}."


async def test_the_first_frame_is_saved_with_the_question(user: User) -> None:
    """Whoever comes back hears where the question went, however early its process ended."""
    log = await begin(user)
    assert log.unsaved() is None
    frame = await RunFrame.objects.aget(run=log.run)
    assert (frame.seq, frame.payload["stage"]) == (1, "queued")
    assert frame.payload["answer"] == str(log.answer)


async def test_a_passage_that_is_gone_leaves_what_was_said_of_it(user: User, tower: Chunk) -> None:
    log = await begin(user)
    gone = uuid4()
    log.add(SearchResults(results=[source(tower.id), source(gone)], query="", retrieval_ms=1))
    log.add(citation(tower.id))
    await save_now(log)
    log.saved(log.unsaved() or pytest.fail("nothing to save"))
    log.add(citation(gone))
    await save_now(log)
    cited = StoredCitation.objects.order_by("ordinal").values_list("ordinal", "chunk", "version")
    assert [row async for row in cited] == [(0, tower.id, tower.version_id), (1, None, None)]
    found = Candidate.objects.order_by("rank").values_list("rank", "chunk", "title")
    assert [row async for row in found] == [(1, tower.id, "The tower"), (2, None, "The tower")]


async def test_what_was_saved_already_stays_as_it_is(user: User, tower: Chunk) -> None:
    """An attempt may have been saved although its answer was lost."""
    log = await begin(user)
    log.add(SearchResults(results=[source(tower.id)], query="", retrieval_ms=1))
    log.add(Token(text="[1]"))
    log.add(citation(tower.id))
    await save_now(log)
    await save_now(log)
    counted = [await model.objects.acount() for model in (RunFrame, Candidate, StoredCitation)]
    assert counted == [4, 1, 1]


async def test_the_end_is_stored_though_the_lease_ran_out_meanwhile(user: User) -> None:
    log = await begin(user)
    await Run.objects.aupdate(state=RunState.INTERRUPTED, error_code="interrupted")
    log.add(Token(text="96 m."))
    end(log)
    await save_now(log)
    run = await Run.objects.aget(id=log.run)
    assert (run.state, run.finish_reason, run.error_code) == ("completed", "stop", "")
    assert run.finished_at is not None


async def test_a_run_that_can_never_be_saved_holds_up_no_other(user: User) -> None:
    """Its conversation was deleted; the others are saved, and nobody waits for it."""
    lost, other = await begin(user), await begin(user)
    logs = [lost, other]
    for log in logs:
        log.add(Token(text="96 m."))
        end(log)
    await Run.objects.filter(id=lost.run).adelete()
    saver = Saver(lambda: [log for log in logs if not log.stored.is_set()])
    saver.soon()
    await saver.work()
    assert (await Run.objects.aget(id=other.run)).state == "completed"
    assert not await RunFrame.objects.filter(run=lost.run).aexists()
