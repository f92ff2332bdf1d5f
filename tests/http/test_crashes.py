"""SIGKILL at any moment loses nothing that was answered; SIGTERM is gentle; the next start goes on."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import StartService
from running import RunningService, processes_of, until

pytestmark = pytest.mark.every_engine

RETRY = {"interrupted_turn": "retry"}


def go(service: RunningService, run_id: str, gate: str = "go") -> None:
    """Lets the agent of a `gated` run go on."""
    (service.data / "runs" / run_id / "work" / gate).touch()


def end(service: RunningService, how: str) -> None:
    if how == "kill":
        service.kill()
    else:
        assert service.stop() == 0


both_ways = pytest.mark.parametrize("how", ["kill", "stop"])


@both_ways
def test_a_waiting_run_waits_on_with_its_deadline(start_service: StartService, how: str) -> None:
    service = start_service()
    options = {"interactive_require_user_reply": False, "session_timeout_sec": 900}
    run_id = service.create("ask-once", execution_mode="interactive", runtime_options=options)
    before = service.wait(run_id, "waiting_user")
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").text
    end(service, how)
    service.start()
    assert service.view(run_id) == before
    assert service.get(f"/v1/jobs/{run_id}/interaction/pending").text == pending
    assert service.reply(run_id, 1, "b.txt").json()["receipt"] == "accepted"
    assert service.wait(run_id)["data"] == {"file": "b.txt"}


def test_a_deadline_that_passes_while_nobody_is_there(start_service: StartService) -> None:
    service = start_service()
    options = {"interactive_require_user_reply": False, "session_timeout_sec": 1}
    run_id = service.create("ask-once", execution_mode="interactive", runtime_options=options)
    service.wait(run_id, "waiting_user")
    service.kill()
    service.start()
    view = service.wait(run_id)
    assert (view["status"], view["auto_decision_count"]) == ("succeeded", 1)


@both_ways
def test_queued_runs_run(start_service: StartService, how: str) -> None:
    service = start_service("--slots", "1")
    first = service.create("gated", runtime_options=RETRY)
    queued = [service.create("direct") for _ in range(3)]
    service.wait(first, "running")
    assert [service.view(run_id)["status"] for run_id in queued] == ["queued"] * 3
    end(service, how)
    service.start()
    go(service, first)
    assert {service.wait(run_id)["status"] for run_id in queued} == {"succeeded"}


@both_ways
@pytest.mark.parametrize("policy", ["fail", "retry"])
def test_an_interrupted_turn_follows_the_policy(start_service: StartService, how: str, policy: str) -> None:
    service = start_service()
    options: dict[str, Any] = {"interrupted_turn": policy}
    run_id = service.create("gated", execution_mode="interactive", runtime_options=options)
    service.wait(run_id, "running")
    end(service, how)
    service.start()
    if policy == "fail":
        view = service.wait(run_id)
        assert (view["status"], view["error"]["code"]) == ("failed", "ORCHESTRATOR_RESTART_INTERRUPTED")
        assert processes_of(service) == []
    else:
        go(service, run_id)
        view = service.wait(run_id, "waiting_user")
        assert (view["status"], view["attempt_number"]) == ("waiting_user", 1)


@both_ways
def test_a_resumed_turn_is_interrupted_and_tried_again(start_service: StartService, how: str) -> None:
    service = start_service()
    run_id = service.create("gated", execution_mode="interactive", runtime_options=RETRY)
    go(service, run_id)
    asked = service.wait(run_id, "waiting_user")
    service.reply(run_id, 1, "b.txt")
    service.wait(run_id, "running", after=asked["revision"])
    end(service, how)
    service.start()
    go(service, run_id, "go-on")
    view = service.wait(run_id)
    assert (view["status"], view["data"], view["attempt_number"]) == ("succeeded", {"file": "b.txt"}, 2)


def test_an_accepted_reply_is_never_lost(start_service: StartService) -> None:
    """Killed right after the receipt, again and again, at whatever the service is doing then."""
    service = start_service("--slots", "1")
    for number in range(5):
        run_id = service.create("ask-once", execution_mode="interactive", runtime_options=RETRY)
        service.wait(run_id, "waiting_user")
        assert service.reply(run_id, 1, f"answer {number}").json()["receipt"] == "accepted"
        service.kill()
        service.start()
        assert service.wait(run_id)["data"] == {"file": f"answer {number}"}


def test_a_created_run_is_never_lost(start_service: StartService) -> None:
    service = start_service("--slots", "1")
    run_ids: list[str] = []
    for _ in range(5):
        run_ids.append(service.create("direct", runtime_options=RETRY))
        service.kill()
        service.start()
    assert {service.wait(run_id)["status"] for run_id in run_ids} == {"succeeded"}
    assert [job["view"]["run_id"] for job in service.get("/v1/jobs").json()["jobs"]] == run_ids[::-1]


def test_no_agent_outlives_its_service(start_service: StartService) -> None:
    service = start_service()
    runs = [service.create("gated") for _ in range(2)]
    for run_id in runs:
        service.wait(run_id, "running")
    # A run is running from the moment it has its slot; its process takes a moment more.
    until(lambda: len([command for command in processes_of(service) if "_supervise" not in command]) == 2)
    assert service.stop() == 0
    assert processes_of(service) == [], "a gentle end waits for them"
    service.start()
    again = service.create("gated")
    service.wait(again, "running")
    service.kill()
    until(lambda: not processes_of(service))


def test_streams_go_on_after_a_restart(start_service: StartService) -> None:
    service = start_service()
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    with service.events("/v1/events", 0) as changes:
        last_change = [next(changes) for _ in range(3)][-1].id
    service.kill()
    service.start()
    with (
        service.steps(run_id, 3) as steps,
        service.events("/v1/events", int(last_change)) as changes,
    ):
        service.reply(run_id, 1, "b.txt")
        assert [event.id for event in steps] == ["4", "5", "6", ""]
        assert [next(changes).data["revision"] for _ in range(3)] == [4, 5, 6]


def test_a_job_that_never_became_a_run_does_not_count(start_service: StartService) -> None:
    """Killed between noting the job and making the run: the id is free, and the list does not know it."""
    service = start_service()
    service.tamper("INSERT INTO {}jobs VALUES ('half-made', 'soft')")
    leftover = service.data / "runs/half-made/skill/old.txt"
    leftover.parent.mkdir(parents=True)
    leftover.touch()
    assert service.get("/v1/jobs").json()["jobs"] == []
    assert service.get("/v1/jobs/half-made").json()["error"]["code"] == "RUN_UNKNOWN"
    service.create("ask-once", run_id="half-made")
    assert service.get("/v1/jobs").json()["jobs"][0]["skill"] == "ask-once"
    assert not leftover.exists()


def test_a_damaged_run_does_not_keep_the_others_from_going_on(start_service: StartService) -> None:
    service = start_service()
    damaged, well = (service.create("ask-once", execution_mode="interactive") for _ in range(2))
    for run_id in (damaged, well):
        service.wait(run_id, "waiting_user")
    service.kill()
    service.tamper("UPDATE {}runs SET snapshot = replace(snapshot, 'Which', 'What') WHERE run_id = ?", damaged)
    service.start()
    service.reply(well, 1, "b.txt")
    assert service.wait(well)["status"] == "succeeded"
    assert [job["view"]["run_id"] for job in service.get("/v1/jobs").json()["jobs"]] == [well]
    told = service.get(f"/v1/jobs/{damaged}")
    assert (told.status_code, told.json()["error"]["code"]) == (422, "SNAPSHOT_INVALID")


def test_a_stopping_service(start_service: StartService) -> None:
    """While the agents are being ended, the service still answers, but takes nothing new."""
    service = start_service()
    run_id = service.create("stubborn", engine="deaf")
    service.wait(run_id, "running")
    until((service.data / "runs" / run_id / "work/deaf").exists)
    service.process.terminate()
    until(lambda: service.get("/v1/health").json()["status"] == "stopping")
    refused = service.post("/v1/jobs", {"skill": "direct", "engine": "scripted"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "SERVICE_STOPPING")
    assert service.process.wait(60) == 0
    service.start()
    assert service.wait(run_id)["error"]["code"] == "ORCHESTRATOR_RESTART_INTERRUPTED"
