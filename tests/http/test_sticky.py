"""Runs whose process stays alive while they wait."""

from __future__ import annotations

from typing import Any

from conftest import StartService
from running import RunningService, processes_of, until

STICKY = {"interactive_profile": {"kind": "sticky_process"}}


def waiting(service: RunningService, skill: str, **options: Any) -> str:
    run_id = service.create(skill, execution_mode="interactive", runtime_options={**STICKY, **options})
    assert service.wait(run_id, "waiting_user")["status"] == "waiting_user"
    return run_id


def test_one_process_for_all_turns(start_service: StartService) -> None:
    service = start_service()
    run_id = waiting(service, "ask-twice")
    assert service.held_slots() == [f"{run_id}/s1"]
    [agent] = [command for command in processes_of(service) if "_supervise" not in command]
    assert agent.rstrip().endswith("--sticky")
    revision = service.view(run_id)["revision"]
    service.reply(run_id, 1, "several\nlines")
    service.wait(run_id, "waiting_user", after=revision)
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert pending["prompt"] == "And which line of several\nlines?", "nothing of a reply is lost on its one line"
    service.reply(run_id, 2, "b.txt")
    assert service.wait(run_id)["data"] == {"file": "b.txt"}


def test_the_deadline_of_a_strict_run(start_service: StartService) -> None:
    service = start_service()
    run_id = waiting(service, "ask-once", session_timeout_sec=1)
    view = service.wait(run_id)
    assert (view["status"], view["error"]["code"]) == ("failed", "INTERACTION_WAIT_TIMEOUT")
    until(lambda: not service.held_slots())
    assert processes_of(service) == []


def test_an_auto_decision_is_injected(service: RunningService) -> None:
    run_id = waiting(service, "ask-once", session_timeout_sec=1, interactive_require_user_reply=False)
    view = service.wait(run_id)
    assert (view["status"], view["auto_decision_count"]) == ("succeeded", 1)


def test_cancel_ends_the_process(start_service: StartService) -> None:
    service = start_service()
    run_id = waiting(service, "ask-once")
    service.post(f"/v1/jobs/{run_id}/cancel")
    until(lambda: not service.held_slots())
    assert processes_of(service) == []


def test_a_killed_service_loses_the_process(start_service: StartService) -> None:
    service = start_service()
    run_id = waiting(service, "ask-once")
    service.kill()
    service.start()
    view = service.wait(run_id)
    assert (view["status"], view["error"]["code"]) == ("failed", "INTERACTION_PROCESS_LOST")
    [record] = service.get(f"/v1/jobs/{run_id}/interaction/history").json()["interactions"]
    assert record["resolution_mode"] == "canceled"
    assert processes_of(service) == []


def test_an_engine_without_sticky_processes(service: RunningService) -> None:
    run_id = service.create("soft", engine="words", execution_mode="interactive", runtime_options=STICKY)
    assert service.wait(run_id)["error"]["code"] == "HOST_FAILED"
