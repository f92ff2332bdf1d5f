"""Runs whose process stays alive while they wait."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import StartService
from running import RunningService, agents_of, processes_of, until

STICKY = {"interactive_profile": {"kind": "sticky_process"}}


def waiting(service: RunningService, skill: str, engine: str = "scripted", **options: Any) -> str:
    run_id = service.create(skill, engine=engine, execution_mode="interactive", runtime_options={**STICKY, **options})
    assert service.wait(run_id, "waiting_user")["status"] == "waiting_user"
    return run_id


def gone(service: RunningService, run_id: str) -> bool:
    """Whether the run has given its slot back; and then nothing of its process is left."""
    if f"{run_id}/s1" in service.held_slots():
        return False
    assert processes_of(service, run_id) == []
    return True


def test_one_process_for_all_turns(service: RunningService) -> None:
    run_id = waiting(service, "ask-twice")
    assert f"{run_id}/s1" in service.held_slots()
    [agent] = agents_of(service, run_id)
    assert agent.rstrip().endswith("--sticky")
    revision = service.view(run_id)["revision"]
    service.reply(run_id, 1, "several\nlines")
    service.wait(run_id, "waiting_user", after=revision)
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert pending["prompt"] == "And which line of several\nlines?", "nothing of a reply is lost on its one line"
    service.reply(run_id, 2, "b.txt")
    assert service.wait(run_id)["data"] == {"file": "b.txt"}


def test_the_deadline_of_a_strict_run(service: RunningService) -> None:
    run_id = waiting(service, "ask-once", session_timeout_sec=1)
    view = service.wait(run_id)
    assert (view["status"], view["error"]["code"]) == ("failed", "INTERACTION_WAIT_TIMEOUT")
    until(lambda: gone(service, run_id))


def test_an_auto_decision_is_injected(service: RunningService) -> None:
    run_id = waiting(service, "ask-once", session_timeout_sec=1, interactive_require_user_reply=False)
    view = service.wait(run_id)
    assert (view["status"], view["auto_decision_count"]) == ("succeeded", 1)


def test_cancel_ends_the_process(service: RunningService) -> None:
    run_id = waiting(service, "ask-once")
    service.post(f"/v1/jobs/{run_id}/cancel")
    until(lambda: gone(service, run_id))


def test_a_killed_service_loses_the_process(start_service: StartService) -> None:
    service = start_service()
    run_id = waiting(service, "ask-once")
    service.kill()
    service.start()
    view = service.wait(run_id)
    assert (view["status"], view["error"]["code"]) == ("failed", "INTERACTION_PROCESS_LOST")
    [record] = service.get(f"/v1/jobs/{run_id}/interaction/history").json()["history"]
    assert record["resolution_mode"] == "canceled"
    assert processes_of(service) == []


def test_an_engine_without_sticky_processes(service: RunningService) -> None:
    run_id = service.create("soft", engine="words", execution_mode="interactive", runtime_options=STICKY)
    assert service.wait(run_id)["error"]["code"] == "HOST_FAILED"


def prompt_of(service: RunningService, run_id: str) -> str:
    return str(service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]["prompt"])


SPEAKING = {
    "rows": "Told: two\nlines \u2028ü",
    "protocol": "Leave: yes. Told: two\nlines \u2028ü. What next?",
}


@pytest.mark.parametrize("engine", SPEAKING)
def test_a_process_that_says_when_a_turn_is_over(service: RunningService, engine: str) -> None:
    run_id = waiting(service, "ask-twice", engine)
    revision = service.view(run_id)["revision"]
    service.reply(run_id, 1, "two\nlines \u2028ü")
    service.wait(run_id, "waiting_user", after=revision)
    assert prompt_of(service, run_id) == SPEAKING[engine]
    service.reply(run_id, 2, "done")
    data = service.wait(run_id)["data"]
    assert data == {"file": "x" if engine == "rows" else str(service.data / "runs" / run_id / "work")}
    until(lambda: gone(service, run_id))


def test_a_turn_that_fails_in_a_process_that_lives(service: RunningService) -> None:
    run_id = waiting(service, "ask-twice", "protocol")
    service.reply(run_id, 1, "fail")
    view = service.wait(run_id)
    assert (view["status"], view["error"]["code"]) == ("failed", "AUTH_REQUIRED")
    until(lambda: gone(service, run_id))
