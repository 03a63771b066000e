"""What must hold after a soak: no answer is lost, doubled, changed, stuck, or written twice."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.soak_journal import Answer, Asked, Journal, WireFrame, digest
from benchmarks.soak_models import ENDINGS, plain, words
from benchmarks.soak_site import GRACE_SECONDS, Web
from chat.models import ACTIVE, Conversation, Message, Role, Run, RunFrame, RunState

# A reader who comes back sooner is there before the grace period ends, however slow the machine.
SURELY_BACK_SECONDS = GRACE_SECONDS - 2
# From a stop until the provider's stream is closed, while the same machine starts processes; and
# from leaving, for which two grace periods may pass: where it was read, and where it is answered.
STOP_SECONDS = 2.0
LEAVE_SECONDS = 2 * GRACE_SECONDS + 3
# The clocks of two processes' transactions may cross by that much.
CROSSING_SECONDS = 1.0

Record = dict[str, Any]


def check(journal: Journal, records: list[Record]) -> Iterator[str]:
    """Yield what does not hold; `records` are the requests the provider has had."""
    yield from journal.problems
    runs = {str(run.id): run for run in Run.objects.select_related("question", "answer")}
    yield from stuck(runs)
    yield from asked_once(journal, runs)
    yield from in_order(runs)
    stored = stored_frames()
    for key, run in runs.items():
        yield from well_stored(run, stored[key])
    for answer in journal.answers:
        if answer.run in runs:
            yield from seen_as_stored(answer, runs[answer.run], stored[answer.run])
    requests: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        requests[record["model"]].append(record)
    away: dict[str, float] = defaultdict(float)
    for answer in journal.answers:
        away[answer.run] = max(away[answer.run], answer.away_seconds)
    for asked in journal.asked.values():
        if asked.run in runs:
            run, died = runs[asked.run], process(runs[asked.run]) in journal.killed
            yield from ended_rightly(asked, run, died=died, away=away[asked.run])
            yield from written_once(asked, run, requests[asked.model], died=died)


def process(run: Run) -> int:
    """Return the process that worked on a run."""
    return int(run.owner.split(":")[1])


def stuck(runs: dict[str, Run]) -> Iterator[str]:
    """Yield runs that have not ended."""
    for key, run in runs.items():
        if run.state in ACTIVE:
            yield f"run {key} is still {run.state}"


def asked_once(journal: Journal, runs: dict[str, Run]) -> Iterator[str]:
    """Yield questions without a run, with a run although refused, or with several."""
    stored = {run.ask_id: key for key, run in runs.items()}
    for asked in journal.asked.values():
        if asked.run != stored.pop(asked.id, None):
            yield f"{asked.id} ({asked.refused}) has not the run that its page was told"
        elif asked.run and runs[asked.run].question.text != asked.text:
            yield f"run {asked.run} has another question"
    for ask, key in stored.items():
        yield f"run {key} of {ask} was asked by nobody"
    for role in Role.values:
        if (count := Message.objects.filter(role=role).count()) != len(runs):
            yield f"there are {count} messages of role {role} for {len(runs)} runs"


def in_order(runs: dict[str, Run]) -> Iterator[str]:
    """Yield runs of one conversation that overlapped, and conversations without any."""
    turns: dict[Any, list[Run]] = defaultdict(list)
    for run in sorted(runs.values(), key=lambda each: each.created_at):
        turns[run.conversation_id].append(run)
    for one, other in itertools.chain.from_iterable(map(itertools.pairwise, turns.values())):
        if one.finished_at is None:
            continue
        if (one.finished_at - other.created_at).total_seconds() > CROSSING_SECONDS:
            yield f"run {other.id} began before run {one.id} had ended"
    if (count := Conversation.objects.count()) != len(turns):
        yield f"of {count} conversations only {len(turns)} have a run"


def stored_frames() -> dict[str, list[WireFrame]]:
    """Return the frames of all runs; of what is found only its digest counts, as of all frames."""
    frames: dict[str, list[WireFrame]] = defaultdict(list)
    rows = RunFrame.objects.order_by("run", "seq").values_list("run", "seq", "payload")
    for run, number, payload in rows.iterator():
        kept = {"type": payload["type"], "text": payload.get("text", "")}
        frames[str(run)].append(kept | {"seq": number, "digest": digest(payload)})
    return frames


def well_stored(run: Run, frames: list[WireFrame]) -> Iterator[str]:
    """Yield gaps in a run's frames, texts that are not the answer's, and ends before the end."""
    numbers = [frame["seq"] for frame in frames]
    if numbers != list(range(1, len(frames) + 1)):
        yield f"run {run.id} ({run.state}) has the frames {numbers}"
    if text_of(frames) != run.answer.text:
        yield f"run {run.id} ({run.state}) has a text that is not the one of its frames"
    cited = sum(frame["type"] == "citation" for frame in frames)
    if cited != run.answer.citations.count():
        yield f"run {run.id} ({run.state}) has not the citations of its frames"
    endings = [frame["seq"] for frame in frames if frame["type"] in ("done", "error")]
    allowed: list[list[int]] = [[len(frames)]]
    if run.state == RunState.INTERRUPTED:
        allowed.append([])
    if endings not in allowed:
        yield f"run {run.id} ({run.state}) ends at {endings} of {len(frames)} frames"


def text_of(frames: Iterable[WireFrame]) -> str:
    """Return the text that frames make."""
    return "".join(frame["text"] for frame in frames if frame["type"] == "token")


def seen_as_stored(answer: Answer, run: Run, frames: list[WireFrame]) -> Iterator[str]:
    """Yield answers that somebody saw otherwise than they are stored."""
    if answer.ending is None:
        return  # somebody left, or is told of as stuck
    if answer.text != run.answer.text:
        yield (
            f"run {run.id} ({run.state}): {len(answer.text)} characters were read, "
            f"{len(run.answer.text)} are stored"
        )
    kind = answer.ending["type"]
    if kind != ("done" if run.state in (RunState.COMPLETED, RunState.CANCELLED) else "error"):
        yield f"run {run.id} is {run.state}, and somebody saw it end with {kind}"
    upto = len(frames) if not answer.snapshot else answer.position - 1
    for seen, frame in zip(answer.seen[:upto], frames, strict=False):
        if seen not in (None, frame["digest"]):
            yield f"run {run.id}: frame {frame['seq']} was seen otherwise than it is stored"
            return


def ended_rightly(asked: Asked, run: Run, *, died: bool, away: float) -> Iterator[str]:
    """Yield runs that ended in a way that nothing they met explains."""
    model = plain(asked.model)
    may_be_cancelled = asked.stopped or asked.left or away > SURELY_BACK_SECONDS
    explained = {
        RunState.COMPLETED: not ENDINGS[model],
        RunState.FAILED: run.error_code == ENDINGS[model],
        RunState.CANCELLED: bool(may_be_cancelled),
        RunState.INTERRUPTED: died,
    }
    if not explained.get(RunState(run.state), True):
        yield (
            f"run {run.id} of {model} is {run.state} {run.error_code}: stopped "
            f"{bool(asked.stopped)}, left {bool(asked.left)}, away {away:.1f} s"
        )
    if run.state == RunState.COMPLETED and run.answer.text.split() != words(model):
        yield f"run {run.id} of {model} is completed without all of its text"


def written_once(asked: Asked, run: Run, requests: list[Record], *, died: bool) -> Iterator[str]:
    """Yield answers the provider wrote twice, or went on with after they were stopped or left."""
    written = [each for each in requests if not each["outcome"].startswith("http_")]
    if len(written) > 1 or (run.state == RunState.COMPLETED and not written):
        yield f"run {run.id} was written {len(written)} times"
    for request in written:
        if request["end"] is None:
            yield f"run {run.id} ({run.state}) is still being written"
        elif died:
            continue
        elif asked.stopped and request["end"] > asked.stopped + STOP_SECONDS:
            late = request["end"] - asked.stopped
            yield f"run {run.id} ({run.state}) was written for {late:.1f} s after it was stopped"
        elif asked.left and request["end"] > asked.left + LEAVE_SECONDS:
            late = request["end"] - asked.left
            yield f"run {run.id} ({run.state}) was written for {late:.1f} s after it was left"


def left_behind(webs: list[Web], streams: int) -> Iterator[str]:
    """Yield streams, runs and readers that processes still hold, and faults they logged."""
    if streams:
        yield f"the provider still writes {streams} answers"
    for number, web in enumerate(webs, 1):
        for name in ("ragsite_active_runs", "ragsite_subscribers"):
            if left := web.measure(name):
                yield f"process {number} still counts {left:g} {name}"
        faults = [line for line in web.log.read_text().splitlines() if is_fault(line)]
        if faults:
            yield f"process {number} logged {len(faults)} faults, first: {faults[0][:500]}"


def is_fault(line: str) -> bool:
    """Whether a line of the log tells of a fault of ours."""
    return '"level": "error"' in line or "Traceback" in line
