"""The engine table: what it can say, and that a wrong one is noticed before anything is served."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import StartService
from running import LAUNCHERS, RunningService

WRONG_TABLES: dict[str, Any] = {
    "no object": [],
    "no engines": {"engines": {}},
    "no command": {"engines": {"x": {}}},
    "an empty command": {"engines": {"x": {"first": []}}},
    "a command as one text": {"engines": {"x": {"first": "agent --print"}}},
    "a number in a command": {"engines": {"x": {"first": ["agent", 5]}}},
    "an unknown member": {"engines": {"x": {"first": ["agent"], "shell": True}}},
    "an unknown output": {"engines": {"x": {"first": ["agent"], "output": "xml"}}},
    "a handle before there is one": {"engines": {"x": {"first": ["agent", "{session_handle}"]}}},
    "no time": {"engines": {"x": {"first": ["agent"], "timeout_sec": 0}}},
    "an end of two lines": {
        "engines": {"x": {"first": ["agent"], "sticky": {"command": ["a"], "end_of_turn": "a\nb"}}}
    },
    "an environment of numbers": {"engines": {"x": {"first": ["agent"], "env": {"A": 1}}}},
}


@pytest.mark.parametrize("table", WRONG_TABLES.values(), ids=WRONG_TABLES)
def test_a_wrong_table(kind: str, tmp_path: Path, table: Any) -> None:
    (tmp_path / "engines.json").write_text(json.dumps(table))
    command = [*LAUNCHERS[kind], "--port", "0", "--data", str(tmp_path), "--engines", str(tmp_path / "engines.json")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "engine" in ended.stderr and "Traceback" not in ended.stderr


def test_an_agent_without_sessions_is_told_the_conversation(start_service: StartService, tmp_path: Path) -> None:
    """It counts what it has asked so far, from nothing but its input."""
    counting = {"first": ["sh", "-c", "echo Asked $(grep -c 'You asked') times"]}
    (tmp_path / "engines.json").write_text(json.dumps({"engines": {"forgetful": counting}}))
    service = start_service("--engines", str(tmp_path / "engines.json"))
    run_id = service.create("plain-question", engine="forgetful", execution_mode="interactive")
    prompts: list[str] = []
    revision = 0
    for number in (1, 2, 3):
        revision = service.wait(run_id, "waiting_user", after=revision)["revision"]
        prompts.append(service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]["prompt"])
        service.reply(run_id, number, "go on")
    assert prompts == ["Asked 0 times", "Asked 1 times", "Asked 2 times"]


def test_a_handle_that_looks_like_an_option_is_not_one(service: RunningService) -> None:
    run_id = service.create("odd-handle", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    service.reply(run_id, 1, "b.txt")
    assert service.wait(run_id)["data"] == {"file": "b.txt"}


def test_a_command_that_is_not_there(start_service: StartService, tmp_path: Path) -> None:
    (tmp_path / "engines.json").write_text('{"engines": {"missing": {"first": ["no-such-agent"]}}}')
    service = start_service("--engines", str(tmp_path / "engines.json"))
    view = service.wait(service.create("direct", engine="missing"))
    assert (view["status"], view["error"]["code"]) == ("failed", "PROCESS_FAILED")
    assert "no-such-agent" in service.said(), "the log says why"
