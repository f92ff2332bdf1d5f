"""Server-sent events: complete, in order, resumable at any place, live, and over when the run is over."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from conftest import StartService
from running import RunningService, ServerSentEvent, lines_of

every_engine = pytest.mark.every_engine


def steps_of(service: RunningService, run_id: str, last: int | None = None) -> list[ServerSentEvent]:
    with service.steps(run_id, last) as events:
        return list(events)


def finished_run(service: RunningService) -> str:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    service.reply(run_id, 1, "b.txt")
    service.wait(run_id)
    return run_id


@every_engine
def test_the_steps_of_a_run(service: RunningService) -> None:
    events = steps_of(service, finished_run(service))
    assert events[-1] == ServerSentEvent("", "end", {})
    steps = [event.data for event in events[:-1]]
    assert [event.id for event in events[:-1]] == [str(step["revision"]) for step in steps] == list("123456")
    assert [(step["event"], step["by"], step["status"]) for step in steps] == [
        ("created", "user", "queued"),
        ("slot_granted", "host", "running"),
        ("turn_finished", "agent", "waiting_user"),
        ("reply", "user", "queued"),
        ("slot_granted", "host", "running"),
        ("turn_finished", "agent", "succeeded"),
    ]
    asked, answered, done = steps[2], steps[3], steps[5]
    assert (asked["display_prompt"], asked["interaction_id"], asked["decision"]["rule"]) == ("Which file?", 1, "GATE-7")
    assert (answered["response"], answered["resolution_mode"]) == ("b.txt", "user_reply")
    assert [check["gate"] for check in done["decision"]["checks"]][-1] == "GATE-3"


@every_engine
def test_resuming_at_every_place(service: RunningService) -> None:
    run_id = finished_run(service)
    everything = steps_of(service, run_id)
    for last in range(6):
        assert steps_of(service, run_id, last) == everything[last:]
        with service.events(f"/v1/jobs/{run_id}/events?last_event_id={last}") as events:
            assert list(events) == everything[last:]
    with service.events(f"/v1/jobs/{run_id}/events?last_event_id=1", last=4) as events:
        assert list(events) == everything[4:], "a client that comes back knows better than its address"
    for last in (6, 7, 10**12):
        seen = service.get(f"/v1/jobs/{run_id}/events", headers={"Last-Event-ID": str(last)})
        assert (seen.status_code, seen.content) == (204, b""), "an EventSource stops at this"


@every_engine
def test_steps_come_as_they_happen_and_a_broken_stream_goes_on(service: RunningService) -> None:
    run_id = service.create("ask-twice", execution_mode="interactive")
    seen: list[ServerSentEvent] = []

    def follow_until_waiting() -> None:
        """Breaks the connection off in the middle of the stream, as soon as somebody is asked."""
        last = int(seen[-1].id) if seen else None
        with service.steps(run_id, last) as events:
            for event in events:
                seen.append(event)
                if event.data.get("status") == "waiting_user":
                    return

    follow_until_waiting()
    service.reply(run_id, 1, "b.txt")
    follow_until_waiting()
    service.reply(run_id, 2, "7")
    follow_until_waiting()
    assert seen == steps_of(service, run_id), "nothing was lost and nothing came twice"


@every_engine
def test_many_followers_see_the_same(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    with service.steps(run_id) as one, service.steps(run_id, 2) as two, service.steps(run_id, 3) as three:
        service.reply(run_id, 1, "b.txt")
        everything = list(one)
        assert list(two) == everything[2:]
        assert list(three) == everything[3:]


@every_engine
def test_the_changes_of_all_runs_until_the_service_ends(start_service: StartService) -> None:
    service = start_service()
    before = service.create("direct")
    service.wait(before)
    with service.events("/v1/events") as live, service.events("/v1/events", 0) as all_of_them:
        run_id = service.create("direct")
        last = service.wait(run_id)["revision"]

        def until_the_end(events: Any) -> list[ServerSentEvent]:
            seen: list[ServerSentEvent] = []
            while not seen or seen[-1].data != {"run_id": run_id, "revision": last}:
                seen.append(next(events))
            return seen

        new, everything = until_the_end(live), until_the_end(all_of_them)
    assert {event.event for event in everything} == {"changed"}
    assert [event.data for event in new] == [{"run_id": run_id, "revision": n} for n in range(1, last + 1)]
    assert everything[-len(new) :] == new
    assert {event.data["run_id"] for event in everything[: -len(new)]} == {before}
    with service.events("/v1/events", int(new[0].id)) as rest:
        assert until_the_end(rest) == new[1:]

    waiting = service.create("ask-once", execution_mode="interactive")
    service.wait(waiting, "waiting_user")
    for number in (signal.SIGTERM, signal.SIGINT):
        with service.steps(waiting, 3) as steps, service.events("/v1/events") as changes:
            service.process.send_signal(number)
            assert list(steps) == list(changes) == [], number.name
        assert service.process.wait(60) == 0, number.name
        if number is signal.SIGTERM:
            service.start()


def test_a_quiet_stream_shows_that_it_lives(service: RunningService) -> None:
    """A connection that nothing comes over is cut by proxies, and its client would not notice a dead service."""
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    with service.http.stream("GET", f"/v1/jobs/{run_id}/events", headers={"Last-Event-ID": "3"}) as response:
        assert next(lines_of(response.iter_bytes())).startswith(":")


def test_an_event_is_one_line_of_data(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    service.reply(run_id, 1, "one\ntwo\r\nthree\u2028four\n\ndata: {}\n\n")
    service.wait(run_id)
    lines = service.get(f"/v1/jobs/{run_id}/events").content.decode().split("\n")
    [reply] = [json.loads(line[6:]) for line in lines if line.startswith('data: {"revision":4')]
    assert reply["response"] == "one\ntwo\r\nthree\u2028four\n\ndata: {}\n\n"
