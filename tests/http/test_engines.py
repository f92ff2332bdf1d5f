"""The engine table: what it can say, and that a wrong one is noticed before anything is served."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import StartService
from running import LAUNCHERS, RunningService

WRONG_FILES: dict[str, Any] = {"no object": [], "no engines": {"engines": {}}, "no table": {"engines": []}}
# What the sentence must name, and the engine that is wrong there.
WRONG_ENGINES: dict[str, tuple[str, Any]] = {
    "no command": ("first", {}),
    "an empty command": ("first", {"first": []}),
    "a command as one text": ("first", {"first": "agent --print"}),
    "a number in a command": ("first", {"first": ["agent", 5]}),
    "a handle before there is one": ("first", {"first": ["agent", "{session_handle}"]}),
    "a resumption as one text": ("resume", {"first": ["agent"], "resume": "agent --resume"}),
    "an unknown member": ("shell", {"first": ["agent"], "shell": True}),
    "a member of earlier tables": ("output", {"first": ["agent"], "output": "messages"}),
    "an unknown stream": ("stream", {"first": ["agent"], "stream": "xml"}),
    "a stream that is no name": ("stream", {"first": ["agent"], "stream": 5}),
    "no time": ("timeout_sec", {"first": ["agent"], "timeout_sec": 0}),
    "an environment of numbers": ("env", {"first": ["agent"], "env": {"A": 1}}),
    "an inherited text": ("inherit", {"first": ["agent"], "inherit": "API_KEY"}),
    "an inherited number": ("inherit", {"first": ["agent"], "inherit": [5]}),
    "an inherited assignment": ("inherit", {"first": ["agent"], "inherit": ["API_KEY=1"]}),
    "the service's own token": ("inherit", {"first": ["agent"], "inherit": ["TURNLATCH_TOKEN"]}),
    "what spans are sent with": ("inherit", {"first": ["agent"], "inherit": ["OTEL_EXPORTER_OTLP_HEADERS"]}),
    "a sticky text": ("sticky", {"first": ["agent"], "sticky": "agent"}),
    "no sticky command": ("sticky.command", {"first": ["agent"], "sticky": {"end_of_turn": "---"}}),
    "an unknown sticky member": (
        "sticky.output",
        {"first": ["agent"], "sticky": {"command": ["a"], "end_of_turn": "---", "output": "text"}},
    ),
    "an end of two lines": ("sticky", {"first": ["agent"], "sticky": {"command": ["a"], "end_of_turn": "a\nb"}}),
    "an empty end": ("sticky", {"first": ["agent"], "sticky": {"command": ["a"], "end_of_turn": ""}}),
    "a number as end": ("sticky.end_of_turn", {"first": ["agent"], "sticky": {"command": ["a"], "end_of_turn": 5}}),
    "no end": ("sticky", {"first": ["agent"], "sticky": {"command": ["a"]}}),
    "an end beside the stream's own": (
        "sticky",
        {"first": ["agent"], "sticky": {"command": ["a"], "stream": "acp", "end_of_turn": "---"}},
    ),
    "a stream that ends no turn": (
        "sticky",
        {"first": ["agent"], "stream": "codex-jsonl", "sticky": {"command": ["a"]}},
    ),
    "an unknown sticky stream": ("sticky", {"first": ["agent"], "sticky": {"command": ["a"], "stream": "xml"}}),
    "a prompt for many turns": (
        "sticky.command",
        {"first": ["agent"], "sticky": {"command": ["a", "--say={prompt}"], "end_of_turn": "---"}},
    ),
}


def refused_start(kind: str, folder: Path, table: Any) -> str:
    """What a service says that does not start with this table."""
    (folder / "engines.json").write_text(json.dumps(table))
    command = [*LAUNCHERS[kind], "--port", "0", "--data", str(folder), "--engines", str(folder / "engines.json")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Traceback" not in ended.stderr
    return ended.stderr


@pytest.mark.parametrize("table", WRONG_FILES.values(), ids=WRONG_FILES)
def test_no_table(kind: str, tmp_path: Path, table: Any) -> None:
    assert "the engine table" in refused_start(kind, tmp_path, table)


@pytest.mark.parametrize(("member", "engine"), WRONG_ENGINES.values(), ids=WRONG_ENGINES)
def test_a_wrong_engine(kind: str, tmp_path: Path, member: str, engine: Any) -> None:
    right = {"first": ["agent"]}
    sentence = refused_start(kind, tmp_path, {"engines": {"right": right, "the-wrong-one": engine}})
    assert "engine the-wrong-one" in sentence and member in sentence


def with_engine(start_service: StartService, folder: Path, **engine: Any) -> RunningService:
    """A service with one engine, `mine`."""
    (folder / "engines.json").write_text(json.dumps({"engines": {"mine": engine}}))
    return start_service("--engines", str(folder / "engines.json"))


def words_of(service: RunningService, run_id: str) -> str:
    """Everything that the run's journal tells."""
    return service.get(f"/v1/jobs/{run_id}/record").text


def test_an_agent_without_sessions_is_told_the_conversation(start_service: StartService, tmp_path: Path) -> None:
    """It counts what it has asked so far, from nothing but its input."""
    counting = ["sh", "-c", "echo Asked $(grep -c 'You asked') times"]
    service = with_engine(start_service, tmp_path, first=counting)
    run_id = service.create("plain-question", engine="mine", execution_mode="interactive")
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
    service = with_engine(start_service, tmp_path, first=["no-such-agent"])
    view = service.wait(service.create("direct", engine="mine"))
    assert (view["status"], view["error"]["code"]) == ("failed", "PROCESS_FAILED")
    assert "no-such-agent" in service.said(), "the log says why"


def test_what_is_inherited_and_nothing_else(
    start_service: StartService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNLATCH_TEST_KEY", "of the service")
    monkeypatch.setenv("TURNLATCH_TEST_OTHER", "not for agents")
    monkeypatch.setenv("TURNLATCH_TEST_SET", "of the service")
    monkeypatch.delenv("TURNLATCH_TEST_ABSENT", raising=False)
    inherit = ["TURNLATCH_TEST_KEY", "TURNLATCH_TEST_SET", "TURNLATCH_TEST_ABSENT"]
    env = {"TURNLATCH_TEST_SET": "of the table"}
    service = with_engine(start_service, tmp_path, first=["env"], inherit=inherit, env=env)
    run_id = service.create("direct", engine="mine")
    service.wait(run_id)
    words = words_of(service, run_id)
    assert "TURNLATCH_TEST_KEY=of the service" in words
    assert "TURNLATCH_TEST_SET=of the table" in words, "what the table sets counts more"
    assert "TURNLATCH_TEST_OTHER" not in words and "TURNLATCH_TEST_ABSENT" not in words


# Says what it was given as an argument and on its input, and how to go on.
ECHOING = """
import json, sys
print(json.dumps({"session_handle": "s-1"}))
print(json.dumps({"role": "assistant", "text": json.dumps([*sys.argv[1:], sys.stdin.read()])}))
"""


def test_a_prompt_as_an_argument(start_service: StartService, tmp_path: Path) -> None:
    """Nothing in it is a placeholder or means anything to a shell, and the input is empty."""
    agent = [sys.executable, "-c", ECHOING]
    service = with_engine(
        start_service,
        tmp_path,
        first=[*agent, "first", "--prompt={prompt}"],
        resume=[*agent, "{session_handle}", "{prompt}"],
        stream="ndjson",
    )
    hostile = "{session_handle} {prompt} $(touch here) 'ü\n\"; --help"
    run_id = service.create("ask-once", engine="mine", execution_mode="interactive", input={"path": hostile})
    revision = service.wait(run_id, "waiting_user")["revision"]

    def told() -> list[str]:
        pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
        told: list[str] = json.loads(pending["prompt"])
        return told

    which, prompt, given = told()
    instructions = (service.data / "runs" / run_id / "prompt.md").read_text(encoding="utf-8")
    assert (which, prompt, given) == ("first", f"--prompt={instructions}", "")
    assert json.dumps(hostile, ensure_ascii=False) in prompt
    service.reply(run_id, 1, hostile)
    service.wait(run_id, "waiting_user", after=revision)
    assert told() == ["s-1", hostile, ""]


def test_a_prompt_that_is_too_long_for_an_argument(start_service: StartService, tmp_path: Path) -> None:
    service = with_engine(start_service, tmp_path, first=["echo", "{prompt}"])
    run_id = service.create("input", engine="mine", input={"path": "x" * 200_000})
    view = service.wait(run_id)
    assert (view["status"], view["error"]["code"]) == ("failed", "HOST_FAILED")
    short = service.create("input", engine="mine", input={"path": "x" * 20_000})
    service.wait(short)
    assert "x" * 20_000 in words_of(service, short)


# Two rows of an agent CLI, the session and the question; the reply is in the session that goes on.
CLAUDE = """
import json, sys
words = sys.stdin.read()
print(json.dumps({"type": "system", "subtype": "init", "session_id": "0b-1"}))
text = "Which file?" if len(sys.argv) == 1 else json.dumps({"file": sys.argv[1] + words, "__SKILL_DONE__": True})
print(json.dumps({"type": "assistant", "session_id": "0b-1",
                  "message": {"content": [{"type": "tool_use", "name": "Read", "input": {"path": "a"}}]}}))
print(json.dumps({"type": "assistant", "session_id": "0b-1", "message": {"content": [{"type": "text", "text": text}]}}))
print(json.dumps({"type": "result", "session_id": "0b-1", "usage": {"input_tokens": 3, "output_tokens": 4}}))
"""


def test_the_rows_of_an_agent_cli(start_service: StartService, tmp_path: Path) -> None:
    agent = [sys.executable, "-c", CLAUDE]
    service = with_engine(
        start_service, tmp_path, first=agent, resume=[*agent, "{session_handle}"], stream="claude-stream-json"
    )
    run_id = service.create("ask-once", engine="mine", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert pending["prompt"] == "Which file?"
    service.reply(run_id, 1, "-b.txt")
    assert service.wait(run_id)["data"] == {"file": "0b-1-b.txt"}
    assert '"usage":{"input_tokens":3,"output_tokens":4' in words_of(service, run_id)


def test_a_failure_that_the_stream_tells(start_service: StartService, tmp_path: Path) -> None:
    row = json.dumps({"type": "result", "is_error": True, "api_error_status": 401, "result": "Please log in"})
    service = with_engine(start_service, tmp_path, first=["echo", row], stream="claude-stream-json")
    view = service.wait(service.create("direct", engine="mine"))
    assert (view["status"], view["error"]["code"]) == ("failed", "AUTH_REQUIRED")
    assert "Please log in" in json.dumps(view["diagnostics"])
