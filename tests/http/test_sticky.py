"""Runs whose process stays alive while they wait."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import StartService
from running import HERE, RunningService, processes_of, until

STICKY = {"interactive_profile": {"kind": "sticky_process"}}


def waiting(service: RunningService, skill: str, engine: str = "scripted", **options: Any) -> str:
    run_id = service.create(skill, engine=engine, execution_mode="interactive", runtime_options={**STICKY, **options})
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


def prompt_of(service: RunningService, run_id: str) -> str:
    return str(service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]["prompt"])


# Answers every row of its input with what the row says, and ends the run when it is told to.
CLAUDE = """
import json, sys
for line in sys.stdin:
    [part] = json.loads(line)["message"]["content"]
    words = part["text"]
    text = json.dumps({"file": "x", "__SKILL_DONE__": True}) if words == "done" else "Told: " + words[-40:]
    print(json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}), flush=True)
    print(json.dumps({"type": "result"}), flush=True)
"""
PROTOCOL_AGENT = [sys.executable, str(HERE / "protocol_agent.py"), "{work}"]
SPEAKING: dict[str, tuple[Any, str]] = {
    "claude-stream-json": ([sys.executable, "-c", CLAUDE, "{work}"], "Told: two\nlines \u2028ü"),
    "acp": (PROTOCOL_AGENT, "Leave: yes. Told: two\nlines \u2028ü. What next?"),
}


def speaking(start_service: StartService, folder: Path, stream: str) -> RunningService:
    """A service whose engine `mine` has a sticky process that says itself when a turn is over."""
    engine = {"first": ["false"], "sticky": {"command": SPEAKING[stream][0], "stream": stream}}
    (folder / "engines.json").write_text(json.dumps({"engines": {"mine": engine}}))
    return start_service("--engines", str(folder / "engines.json"))


@pytest.mark.parametrize("stream", SPEAKING)
def test_a_process_that_says_when_a_turn_is_over(start_service: StartService, tmp_path: Path, stream: str) -> None:
    service = speaking(start_service, tmp_path, stream)
    run_id = waiting(service, "ask-twice", "mine")
    revision = service.view(run_id)["revision"]
    service.reply(run_id, 1, "two\nlines \u2028ü")
    service.wait(run_id, "waiting_user", after=revision)
    assert prompt_of(service, run_id) == SPEAKING[stream][1]
    service.reply(run_id, 2, "done")
    data = service.wait(run_id)["data"]
    assert data == {"file": "x" if stream != "acp" else str(service.data / "runs" / run_id / "work")}
    until(lambda: not service.held_slots())
    assert processes_of(service) == []


def test_a_turn_that_fails_in_a_process_that_lives(start_service: StartService, tmp_path: Path) -> None:
    service = speaking(start_service, tmp_path, "acp")
    run_id = waiting(service, "ask-twice", "mine")
    service.reply(run_id, 1, "fail")
    view = service.wait(run_id)
    assert (view["status"], view["error"]["code"]) == ("failed", "AUTH_REQUIRED")
    until(lambda: not service.held_slots())
    assert processes_of(service) == []
