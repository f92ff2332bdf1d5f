"""Slots, timers and the store of one host process."""

from __future__ import annotations

import asyncio
import threading

import pytest

from hosting import plan, until
from turnlatch import Run, replay
from turnlatch.local import AsyncioTimers, LocalSlots, MemoryStore, wall_clock
from turnlatch.parts import RunNotFoundError, StoreConflictError


def test_slots_are_granted_in_the_order_they_were_asked_for() -> None:
    slots, order = LocalSlots(1), []
    for name in "abc":
        slots.acquire("r", name, lambda name=name: order.append(name))
    assert order == ["a"]
    slots.release("a")
    slots.release("b")
    assert order == ["a", "b", "c"]


def test_asking_twice_keeps_the_place_and_takes_one_slot() -> None:
    slots, order = LocalSlots(1), []
    slots.acquire("r", "a", lambda: order.append("a"))
    slots.acquire("r", "b", lambda: order.append("b"))
    slots.acquire("r", "c", lambda: order.append("c"))
    slots.acquire("r", "b", lambda: order.append("b again"))
    slots.release("a")
    slots.release("b")
    assert order == ["a", "b again", "c"]
    slots.release("c")
    assert slots.held() == set()


def test_a_granted_slot_is_granted_again_on_request() -> None:
    slots, order = LocalSlots(1), []
    slots.acquire("r", "a", lambda: order.append(1))
    slots.acquire("r", "a", lambda: order.append(2))
    assert order == [1, 2]
    assert slots.granted() == {"a"}


def test_releasing_an_ungranted_request_withdraws_it() -> None:
    slots, order = LocalSlots(1), []
    for name in "abc":
        slots.acquire("r", name, lambda name=name: order.append(name))
    slots.release("b")
    slots.release("a")
    assert order == ["a", "c"]
    slots.release("a")
    assert slots.granted() == {"c"}, "a second release frees nothing"


def test_held_slots_count_also_beyond_the_size() -> None:
    slots, order = LocalSlots(1), []
    slots.hold("r", "a")
    slots.hold("r", "b")
    slots.acquire("r", "c", lambda: order.append("c"))
    slots.release("a")
    assert order == []
    slots.release("b")
    assert order == ["c"]


def test_slots_from_many_threads_never_exceed_the_size() -> None:
    slots, seen = LocalSlots(3), []

    def use(name: str) -> None:
        for turn in range(200):
            granted = threading.Event()
            slots.acquire("r", f"{name}{turn}", granted.set)
            assert granted.wait(10)
            seen.append(len(slots.granted()))
            slots.release(f"{name}{turn}")

    threads = [threading.Thread(target=use, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 1600
    assert max(seen) <= 3
    assert slots.held() == set()


def test_no_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        LocalSlots(0)


def test_a_timer_fires_once_and_not_early() -> None:
    async def scenario() -> None:
        timers, fired = AsyncioTimers(), []
        at = wall_clock() + 30
        timers.set("r", 1, at, lambda: fired.append(wall_clock()))
        await until(lambda: bool(fired))
        assert fired[0] >= at
        assert list(timers.pending()) == []

    asyncio.run(scenario())


def test_a_timer_is_replaced_cancelled_and_fires_when_overdue() -> None:
    async def scenario() -> None:
        timers, fired = AsyncioTimers(), []
        timers.set("r", 1, wall_clock() + 10_000_000, lambda: fired.append("old"))
        timers.set("r", 1, wall_clock() - 5, lambda: fired.append("new"))
        timers.set("r", 2, wall_clock() - 5, lambda: fired.append("canceled"))
        timers.cancel("r", 2)
        timers.cancel("r", 2)
        await until(lambda: bool(fired))
        assert fired == ["new"]
        assert list(timers.pending()) == []

    asyncio.run(scenario())


def test_a_timer_follows_a_clock_that_is_set_and_bears_any_delay() -> None:
    async def scenario() -> None:
        now, fired = [0], []
        timers = AsyncioTimers(clock=lambda: now[0])
        timers.set("r", 1, 20, lambda: fired.append("near"))
        timers.set("r", 2, 2**53, lambda: fired.append("far"))
        await asyncio.sleep(0.06)
        assert fired == [], "the clock stands still"
        now[0] = 20
        await until(lambda: bool(fired))
        assert fired == ["near"]
        assert list(timers.pending()) == [("r", 2)]

    asyncio.run(scenario())


def test_the_memory_store_keeps_what_it_is_given() -> None:
    store, the_plan = MemoryStore(), plan()
    run, created = Run.create(the_plan, 1)
    store.create("r1", run.to_json(), created.entry)
    with pytest.raises(StoreConflictError):
        store.create("r1", run.to_json(), created.entry)
    canceled = run.cancel(2)
    with pytest.raises(StoreConflictError):
        store.save("r1", 7, run.to_json(), canceled.entry, True)
    assert store.unfinished() == ["r1"]
    store.save("r1", 1, run.to_json(), canceled.entry, True)
    assert store.unfinished() == []
    assert Run.from_json(store.load("r1")).status == "canceled"
    assert replay(the_plan, store.journal("r1"))[0].to_json() == run.to_json()
    store.mark_begun("r1", "e")
    assert (store.was_begun("r1", "e"), store.was_begun("r1", "f")) == (True, False)
    with pytest.raises(RunNotFoundError, match="no run nobody"):
        store.load("nobody")
