"""Limits of asking: counted exactly, for several processes at once, and told with their end."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from pytest_django import Settings

from chat import allowance, pace, runs, runstate, storing
from chat.accounts.models import Guest
from chat.client_messages import Ask, Prefetch
from chat.models import Assistant, Conversation, Message, Run, RunState
from chat.runstate import RunRefused
from retrieval.database import in_thread
from retrieval.limits.models import Charge, Limit, Scope
from retrieval.limits.quantities import UNLIMITED
from retrieval.models import Chunk
from tests.fakes import ScriptedGenerator

pytestmark = pytest.mark.usefixtures("runs_end")


def asking(text: str = "How high is the tower?", **fields: Any) -> Ask:
    return Ask(type="ask", text=text, **fields)


async def limit(user: User | None = None, **quantities: int) -> Limit:
    scope = Scope.PERSON if user else Scope.EVERYONE
    return await Limit.objects.acreate(scope=scope, user=user, **quantities)


async def charge(user: User, seconds_ago: float = 0, **fields: Any) -> Charge:
    asked_at = timezone.now() - timedelta(seconds=seconds_ago)
    values = {"tokens": 0, **fields}
    return await Charge.objects.acreate(user=user, run=uuid4(), asked_at=asked_at, **values)


async def store(user: User, **fields: Any) -> Run:
    """Store a question as the one of another process, which answers it."""
    return (await storing.create(user, asking(**fields), "elsewhere")).run


async def refused(user: User, **fields: Any) -> RunRefused:
    with pytest.raises(RunRefused) as caught:
        await store(user, **fields)
    return caught.value


async def answered(user: User, **fields: Any) -> Run:
    run = await runs.start(user, asking(**fields))
    async for _ in runs.follow(user, run.id):
        pass
    return run


async def test_without_a_limit_one_may_ask_as_much_as_one_likes(user: User) -> None:
    for _ in range(8):
        await store(user)
    assert {meter.allowed for meter in await allowance.check(user)} == {UNLIMITED}


async def test_questions_of_the_last_minute_count_and_the_refusal_says_when_one_is_free(
    user: User,
) -> None:
    await limit(user, questions_a_minute=2)
    await charge(user, seconds_ago=61)
    await charge(user, seconds_ago=40)
    await store(user)
    error = await refused(user)
    assert (error.code, error.recoverable) == ("rate_limited", True)
    assert 15_000 < error.retry_in_ms <= 20_000
    assert error.message.startswith("You may ask 2 questions a minute. You can ask again in ")
    assert error.frame("x").retry_in_ms == error.retry_in_ms


async def test_where_more_than_allowed_were_asked_the_one_that_must_leave_first_decides(
    user: User,
) -> None:
    await limit(user, questions_a_minute=1)  # was lowered, say
    await charge(user, seconds_ago=50)
    await charge(user, seconds_ago=20)
    assert 35_000 < (await refused(user)).retry_in_ms <= 40_000


async def test_a_refused_question_leaves_nothing_behind(user: User) -> None:
    await limit(user, questions_a_minute=0)
    error = await refused(user)
    assert (error.message, error.recoverable) == ("You may not ask questions here.", False)
    for model in (Conversation, Run, Charge):
        assert not await model.objects.aexists()


async def test_asking_at_once_in_several_processes_passes_by_no_limit(user: User) -> None:
    await limit(user, questions_a_minute=3)
    results = await asyncio.gather(*(store(user) for _ in range(12)), return_exceptions=True)
    assert sum(isinstance(result, Run) for result in results) == 3
    assert await Charge.objects.acount() == 3


async def test_answers_being_written_at_once_pass_by_no_limit(user: User) -> None:
    await limit(user, concurrent_runs=2)
    results = await asyncio.gather(*(store(user) for _ in range(8)), return_exceptions=True)
    codes = [result.code for result in results if isinstance(result, RunRefused)]
    assert codes == ["too_many_runs"] * 6


async def test_an_answer_that_has_ended_makes_room_for_another(user: User) -> None:
    await limit(user, concurrent_runs=1)
    run = await store(user)
    assert (await refused(user)).message == (
        "1 of your questions is answered at a time. Ask again when an answer has ended."
    )
    await Run.objects.filter(pk=run.pk).aupdate(state=RunState.COMPLETED)
    await store(user)


async def test_an_answer_whose_process_died_does_not_count_for_ever(user: User) -> None:
    await limit(user, concurrent_runs=1)
    run = await store(user)
    await Run.objects.filter(pk=run.pk).aupdate(lease_expires_at=timezone.now())
    await store(user)


async def test_a_second_question_of_a_conversation_is_busy_and_not_over_the_limit(
    user: User,
) -> None:
    await limit(user, concurrent_runs=1)
    run = await store(user)
    assert (await refused(user, conversation=run.conversation_id)).code == "busy"


async def test_a_question_that_waits_its_turn_counts(user: User, settings: Settings) -> None:
    settings.MULTITASK_STRATEGY = "enqueue"
    await limit(user, concurrent_runs=2)
    run = await store(user)
    await store(user, conversation=run.conversation_id)
    assert (await refused(user, conversation=run.conversation_id)).code == "too_many_runs"


async def test_the_same_question_sent_again_is_not_measured(user: User) -> None:
    await limit(user, questions_a_minute=1)
    run = await store(user, id="one")
    assert (await store(user, id="one")).pk == run.pk
    assert await Charge.objects.acount() == 1


async def test_tokens_of_today_count_and_not_those_of_yesterday(user: User) -> None:
    await limit(user, tokens_a_day=100)
    await charge(user, seconds_ago=25 * 3600, tokens=1000)
    await charge(user, tokens=99)
    await store(user)
    await charge(user, tokens=1)
    error = await refused(user)
    assert error.code == "quota_exceeded"
    assert error.message.startswith("You have used up today’s 100 tokens. You can ask again ")
    assert 0 < error.retry_in_ms <= 25 * 3600 * 1000


async def test_an_answer_is_charged_as_its_provider_says_and_is_not_cut(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is 96 m high [1]."]
    await limit(user, tokens_a_day=5)
    run = await answered(user)
    assert (await Charge.objects.aget()).tokens == 12
    assert (await Run.objects.aget(pk=run.pk)).state == RunState.COMPLETED
    assert (await refused(user)).code == "quota_exceeded"


async def test_an_answer_that_was_stopped_is_charged_by_an_estimate(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    generator.script = ["It is ", asyncio.Event()]
    run = await runs.start(user, asking())
    async for frame in runs.follow(user, run.id):
        if frame.type == "token":
            break
    await runs.stop(user, run.id)
    tokens = (await Charge.objects.aget()).tokens
    # A passage of at most 300, "How high is the tower?" and "It is ".
    assert tokens == 300 + 5 + 2


async def test_deleting_a_conversation_gives_nothing_back(user: User) -> None:
    await limit(user, questions_a_minute=1)
    run = await store(user)
    await Conversation.objects.filter(pk=run.conversation_id).adelete()
    assert (await refused(user)).code == "rate_limited"


async def test_ones_own_limit_comes_before_those_of_groups_and_these_before_everyones(
    user: User,
) -> None:
    first, second = [await Group.objects.acreate(name=name) for name in ("first", "second")]
    await limit(questions_a_minute=1, tokens_a_day=1, concurrent_runs=1)
    await Limit.objects.acreate(scope=Scope.GROUP, group=first, tokens_a_day=20, concurrent_runs=2)
    await Limit.objects.acreate(scope=Scope.GROUP, group=second, tokens_a_day=30)
    await user.groups.aadd(first, second)
    await limit(user, concurrent_runs=7)
    allowed = {meter.quantity.name: meter.allowed for meter in await allowance.check(user)}
    assert allowed == {"questions_a_minute": 1, "tokens_a_day": 30, "concurrent_runs": 7}


async def test_a_limit_is_of_one_person_and_not_of_others(user: User, other: User) -> None:
    await limit(user, questions_a_minute=1)
    await store(user)
    await store(other)
    await store(other)


async def test_what_nothing_says_is_as_in_the_settings(user: User, settings: Settings) -> None:
    settings.LIMIT_QUESTIONS_A_MINUTE = 1
    await store(user)
    assert (await refused(user)).code == "rate_limited"


async def guest(address: int) -> Guest:
    made = await in_thread(Guest.objects.create_guest)
    made.address = address
    return made


async def test_guests_of_one_address_share_what_is_left_of_it(
    settings: Settings, user: User
) -> None:
    settings.GUEST_QUESTIONS_A_MINUTE, settings.GUEST_ADDRESS_QUESTIONS_A_MINUTE = 2, 3
    settings.GUEST_CONCURRENT_RUNS = 9
    one, another, elsewhere = await guest(1), await guest(1), await guest(2)
    await public_assistant()
    await store(one)
    await store(one)
    assert (await refused(one)).message.startswith("You may ask 2 questions a minute.")
    await store(another)
    message = (await refused(another)).message
    assert message.startswith("From your network 3 questions a minute may be asked.")
    await store(elsewhere)


async def test_guests_asking_at_once_from_one_address_pass_by_no_limit(
    settings: Settings, user: User
) -> None:
    settings.GUEST_ADDRESS_CONCURRENT_RUNS = 2
    await public_assistant()
    guests = [await guest(1) for _ in range(8)]
    results = await asyncio.gather(*(store(each) for each in guests), return_exceptions=True)
    assert sum(isinstance(result, Run) for result in results) == 2


async def public_assistant() -> None:
    await Assistant.objects.acreate(name="Open", visibility="public")


async def test_what_is_typed_is_searched_for_some_times_a_question_that_may_be_asked(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    pace.forget()
    await limit(user, questions_a_minute=1)
    typed = Prefetch(type="prefetch", text="How high is the tower?")
    for _ in range(pace.LOOKS_A_QUESTION):
        assert await runs.look_ahead(user, typed)
    with pytest.raises(RunRefused, match="more slowly"):
        await runs.look_ahead(user, typed)


async def test_what_may_not_be_asked_is_not_searched_for(
    user: User, tower: Chunk, generator: ScriptedGenerator
) -> None:
    pace.forget()
    await limit(user, tokens_a_day=10)
    await charge(user, tokens=10)
    with pytest.raises(RunRefused, match="used up"):
        await runs.look_ahead(user, Prefetch(type="prefetch", text="How high is the tower?"))


async def test_a_limit_holds_as_soon_as_it_is_set_and_no_longer_than_it_is(user: User) -> None:
    await store(user)
    made = await limit(user, questions_a_minute=1)
    assert (await refused(user)).code == "rate_limited"
    await made.adelete()
    await store(user)


async def test_an_answer_whose_process_died_is_charged_for_what_was_saved_of_it(
    user: User, generator: ScriptedGenerator, settings: Settings
) -> None:
    run = await store(user)
    await Message.objects.filter(pk=run.answer_id).aupdate(text="It is 96 metres ")
    await Run.objects.filter(pk=run.pk).aupdate(lease_expires_at=timezone.now())
    assert await in_thread(runstate.interrupt_expired) == 1
    assert (await Charge.objects.aget()).tokens == settings.CONTEXT_TOKENS + (22 + 16) // 4
