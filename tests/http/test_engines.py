"""The engine table: what it can say, and that a wrong one is noticed before anything is served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import StartService
from running import RunningService, refused_start

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


def table_in(folder: Path, engines: Any) -> list[str]:
    """The option for a table that is written here."""
    (folder / "engines.json").write_text(json.dumps(engines))
    return ["--engines", str(folder / "engines.json")]


@pytest.mark.parametrize("table", WRONG_FILES.values(), ids=WRONG_FILES)
def test_no_table(kind: str, tmp_path: Path, table: Any) -> None:
    assert "the engine table" in refused_start(kind, tmp_path, *table_in(tmp_path, table))


def test_wrong_engines(kind: str, tmp_path: Path) -> None:
    """Each of them is told on a line of its own, with the member that is wrong."""
    wrong = {name: engine for name, (_, engine) in WRONG_ENGINES.items()}
    said = refused_start(kind, tmp_path, *table_in(tmp_path, {"engines": {"right": {"first": ["agent"]}, **wrong}}))
    lines = said.removeprefix("turnlatch-service: ").splitlines()
    sentences = dict(line.removeprefix("engine ").split(f" in {tmp_path / 'engines.json'}: ") for line in lines)
    assert list(sentences) == list(WRONG_ENGINES), "every wrong one, and no other"
    for name, (member, _) in WRONG_ENGINES.items():
        assert member in sentences[name], f"{name}: {sentences[name]}"


def words_of(service: RunningService, run_id: str) -> str:
    """Everything that the run's journal tells."""
    return service.get(f"/v1/jobs/{run_id}/record").text


def test_an_agent_without_sessions_is_told_the_conversation(service: RunningService) -> None:
    """It counts what it has asked so far, from nothing but its input."""
    run_id = service.create("plain-question", engine="counting", execution_mode="interactive")
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


def test_a_command_that_is_not_there(service: RunningService) -> None:
    view = service.wait(service.create("direct", engine="absent"))
    assert (view["status"], view["error"]["code"]) == ("failed", "PROCESS_FAILED")
    assert "no-such-agent" in service.said(), "the log says why"


@pytest.mark.parametrize("engine", ["killed", "kills-its-supervisor"])
def test_a_signal_is_told_the_same_by_every_service(service: RunningService, engine: str) -> None:
    error = service.wait(service.create("direct", engine=engine))["error"]
    assert (error["code"], error["message"]) == ("PROCESS_FAILED", "the turn failed with exit code 137")


def test_what_agents_get_of_the_environment(
    start_service: StartService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is inherited and nothing else, and never the token."""
    monkeypatch.setenv("TURNLATCH_TEST_KEY", "of the service")
    monkeypatch.setenv("TURNLATCH_TEST_OTHER", "not for agents")
    monkeypatch.setenv("TURNLATCH_TEST_SET", "of the service")
    monkeypatch.delenv("TURNLATCH_TEST_ABSENT", raising=False)
    inherit = ["TURNLATCH_TEST_KEY", "TURNLATCH_TEST_SET", "TURNLATCH_TEST_ABSENT"]
    engine = {"first": ["env"], "inherit": inherit, "env": {"TURNLATCH_TEST_SET": "of the table"}}
    service = start_service(*table_in(tmp_path, {"engines": {"mine": engine}}), token="s3cret")
    run_id = service.create("direct", engine="mine")
    service.wait(run_id)
    words = words_of(service, run_id)
    assert "TURNLATCH_TEST_KEY=of the service" in words and "TERM=dumb" in words
    assert "TURNLATCH_TEST_SET=of the table" in words, "what the table sets counts more"
    assert "TURNLATCH_TEST_OTHER" not in words and "TURNLATCH_TEST_ABSENT" not in words
    assert "s3cret" not in words and "TURNLATCH_TOKEN" not in words


def test_a_prompt_as_an_argument(service: RunningService) -> None:
    """Nothing in it is a placeholder or means anything to a shell, and the input is empty."""
    hostile = "{session_handle} {prompt} $(touch here) 'ü\n\"; --help"
    run_id = service.create("ask-once", engine="echoing", execution_mode="interactive", input={"path": hostile})
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


def test_a_prompt_that_is_too_long_for_an_argument(service: RunningService) -> None:
    run_id = service.create("input", engine="repeating", input={"path": "x" * 200_000})
    view = service.wait(run_id)
    assert (view["status"], view["error"]["code"]) == ("failed", "HOST_FAILED")
    short = service.create("input", engine="repeating", input={"path": "x" * 20_000})
    service.wait(short)
    assert "x" * 20_000 in words_of(service, short)


def test_the_rows_of_an_agent_cli(service: RunningService) -> None:
    run_id = service.create("ask-once", engine="rows", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert pending["prompt"] == "Which file?"
    service.reply(run_id, 1, "-b.txt")
    assert service.wait(run_id)["data"] == {"file": "0b-1-b.txt"}
    assert '"usage":{"input_tokens":3,"output_tokens":4' in words_of(service, run_id)


def test_a_failure_that_the_stream_tells(service: RunningService) -> None:
    view = service.wait(service.create("direct", engine="logged-out"))
    assert (view["status"], view["error"]["code"]) == ("failed", "AUTH_REQUIRED")
    assert "Please log in" in json.dumps(view["diagnostics"])
