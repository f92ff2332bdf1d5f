"""``python -m turnlatch`` as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import turnlatch
from vectors_runner import DEFAULT_OUTPUT_SCHEMA

ASKS = '{"ask_user": {"prompt": "Pick \\u001b[31m one\\nplease", "options": ["a\\u202e", "b"]}}'


def command(*arguments: str, cwd: Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    variables = {**os.environ, "PYTHONPATH": str(Path(turnlatch.__file__).parents[1]), "COLUMNS": "100", **environment}
    return subprocess.run(
        [sys.executable, "-m", "turnlatch", *arguments],
        cwd=cwd,
        input=stdin,
        env=variables,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runner = {"engines": ["gemini"], "unsupported_engines": ["claude"], "execution_modes": ["auto", "interactive"]}
    (tmp_path / "runner.json").write_text(json.dumps({**runner, "max_attempt": 2}))
    (tmp_path / "schema.json").write_text(DEFAULT_OUTPUT_SCHEMA)
    (tmp_path / "done.txt").write_text('Done. {"answer": 7, "__SKILL_DONE__": true}')
    (tmp_path / "wrong.txt").write_text('{"answer": "seven", "__SKILL_DONE__": true}')
    (tmp_path / "asks.txt").write_text(ASKS)
    return tmp_path


def test_a_finished_turn_is_reported(folder: Path) -> None:
    told = command("explain", "--schema", "schema.json", "done.txt", cwd=folder)
    assert (told.returncode, told.stderr) == (0, b"")
    assert told.stdout.decode() == (
        "succeeded  by GATE-3\n"
        "  the run is complete\n"
        "\n"
        "evidence\n"
        "  done marker  found\n"
        "  output       valid, found in: prose\n"
        "  asks         no\n"
        "\n"
        "gates, in order\n"
        "  next     GATE-1   the process ended well\n"
        "  decides  GATE-3   the agent says it is done and the output fits the schema\n"
        "\n"
        "worth knowing\n"
        "  OUTPUT_REPAIRED_GENERIC  the output was found inside other text\n"
        "      Make the skill ask for the bare JSON object as the last message.\n"
        "\n"
        "result\n"
        '  {"answer": 7}\n'
    )


def test_what_is_wrong_is_said_with_its_place(folder: Path) -> None:
    told = command("explain", "--runner", "runner.json", "--schema", "schema.json", "wrong.txt", cwd=folder)
    text = told.stdout.decode()
    assert told.returncode == 0
    assert text.startswith("failed  by GATE-4  OUTPUT_SCHEMA_INVALID\n")
    assert "/answer" in text and "what to do\n" in text


def test_agent_text_is_made_visible_and_there_is_no_colour_in_a_pipe(folder: Path) -> None:
    told = command("explain", "asks.txt", cwd=folder)
    text = told.stdout.decode()
    assert text.startswith("waiting_user  by GATE-7\n")
    assert "  | Pick \\u{1b}[31m one\n  | please\n" in text
    assert "\x1b" not in text and "\u202e" not in text


@pytest.mark.parametrize(
    ("options", "outcome", "code"),
    [
        (["--mode", "auto", "--schema", "schema.json", "done.txt"], "succeeded", None),
        (["--exit-code", "3", "done.txt"], "failed", "PROCESS_FAILED"),
        (["--exit-code", "-9", "done.txt"], "failed", "PROCESS_FAILED"),
        (["--runner", "runner.json", "asks.txt"], "waiting_user", None),
        (["--runner", "runner.json", "--attempt", "2", "asks.txt"], "failed", "INTERACTIVE_MAX_ATTEMPT_EXCEEDED"),
        (["--engine", "opencode", "done.txt"], "succeeded", None),
    ],
)
def test_as_json(folder: Path, options: list[str], outcome: str, code: str | None) -> None:
    told = command("explain", "--json", *options, cwd=folder)
    judged: Any = json.loads(told.stdout)
    assert told.returncode == 0
    assert judged["decision"]["outcome"] == outcome
    assert judged["decision"].get("code") == code


def test_standard_input_is_a_turn(folder: Path) -> None:
    told = command(
        "explain", "--json", "-", cwd=folder, stdin='größer? ✓ {"a": 1}\r\n'.encode(), PYTHONIOENCODING="ascii"
    )
    judged: Any = json.loads(told.stdout)
    assert judged["question"]["prompt"].startswith("größer? ✓")
    assert told.returncode == 0


DONE = '{"answer": 7, "__SKILL_DONE__": true}'
CODEX: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "th_1"},
    {"type": "item.completed", "item": {"type": "agent_message", "text": DONE}},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
]
CLAUDE: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init", "session_id": "s1"},
    {"type": "assistant", "session_id": "s1", "message": {"content": [{"type": "text", "text": DONE}]}},
    {"type": "result", "subtype": "success", "session_id": "s1", "is_error": False, "result": DONE},
]
GEMINI: list[dict[str, Any]] = [
    {"type": "init", "session_id": "g1"},
    {"type": "message", "role": "assistant", "content": DONE, "delta": True},
    {"type": "result", "status": "success"},
]
OPENCODE: list[dict[str, Any]] = [
    {"type": "step_start", "sessionID": "o1", "part": {}},
    {"type": "text", "sessionID": "o1", "part": {"text": DONE}},
    {"type": "step_finish", "sessionID": "o1", "part": {"reason": "stop"}},
]
PI: list[dict[str, Any]] = [
    {"type": "session", "id": "p1"},
    {"type": "message_end", "message": {"role": "assistant", "content": [{"type": "text", "text": DONE}]}},
    {"type": "agent_end"},
]
ACP: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "a1"}},
    {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "a1",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": DONE}},
        },
    },
    {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}},
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("format", "stream", "hinted"),
    [
        ("codex-jsonl", lines(CODEX), "--stream codex-jsonl"),
        ("claude-stream-json", lines(CLAUDE), "--stream claude-stream-json or --stream qwen-stream-json"),
        ("qwen-stream-json", lines(CLAUDE), "--stream claude-stream-json or --stream qwen-stream-json"),
        ("gemini-stream-json", lines(GEMINI), "--stream gemini-stream-json"),
        ("gemini-json", json.dumps({"session_id": "g1", "response": DONE}, indent=2), "--stream gemini-json"),
        ("opencode-json", lines(OPENCODE), "--stream opencode-json"),
        ("pi-json", lines(PI), "--stream pi-json"),
        ("acp", lines(ACP), "--stream acp"),
        ("ndjson", lines([{"role": "assistant", "text": DONE}]), "--stream ndjson"),
        ("codex-jsonl", "Reading input.\n" + lines(CODEX), "--stream codex-jsonl"),
    ],
)
def test_a_stream_is_decoded_and_recognised(folder: Path, format: str, stream: str, hinted: str) -> None:
    (folder / "stdout.jsonl").write_text(stream)
    told = command("explain", "--json", "--schema", "schema.json", "--stream", format, "stdout.jsonl", cwd=folder)
    judged: Any = json.loads(told.stdout)
    assert (told.returncode, told.stderr) == (0, b"")
    assert (judged["decision"]["outcome"], judged["decision"]["rule"]) == ("succeeded", "GATE-3")
    assert json.loads(judged["data_text"]) == {"answer": 7}

    as_text = command("explain", "--schema", "schema.json", "stdout.jsonl", cwd=folder)
    assert as_text.returncode == 0 and as_text.stdout.startswith(b"waiting_user")
    [hint] = as_text.stderr.decode().splitlines()
    assert hint.startswith("hint: ") and hint.endswith(f"try {hinted}")


def test_stderr_and_the_exit_code_belong_to_a_stream(folder: Path) -> None:
    (folder / "stdout.json").write_text("")
    error = {"session_id": "g1", "error": {"type": "Error", "message": "slow down", "code": 429}}
    (folder / "stderr.txt").write_text("a warning\n" + json.dumps(error, indent=2))
    options = ["--json", "--stream", "gemini-json", "--stderr", "stderr.txt", "--exit-code", "1"]
    judged: Any = json.loads(command("explain", *options, "stdout.json", cwd=folder).stdout)
    assert judged["decision"]["code"] == "RATE_LIMITED"


def test_what_is_no_stream_gets_no_hint(folder: Path) -> None:
    texts = [DONE, "{", "", ASKS, json.dumps({"result": 1}), json.dumps({"role": "x"}), f"I am done.\n{DONE}\n{DONE}\n"]
    for text in texts:
        told = command("explain", "-", cwd=folder, stdin=text.encode())
        assert (told.returncode, told.stderr) == (0, b""), text


def test_help_lists_the_formats(folder: Path) -> None:
    told = command("explain", "--help", cwd=folder).stdout.decode().split()
    assert all(format in told for format in get_args(turnlatch.types.StreamFormat))


def test_an_engine_that_is_excluded_is_not_the_default(folder: Path) -> None:
    runner = {"engines": ["gemini", "claude"], "unsupported_engines": ["gemini"], "execution_modes": ["interactive"]}
    (folder / "both.json").write_text(json.dumps(runner))
    told = command("explain", "--runner", "both.json", "done.txt", cwd=folder)
    assert told.returncode == 0 and b"ENGINES_OVERLAP" in told.stdout


def test_a_refusal_is_1(folder: Path) -> None:
    told = command("explain", "--mode", "both", "done.txt", cwd=folder)
    assert told.returncode == 1
    assert told.stdout.decode().splitlines()[:2] == [
        "refused at admission: no run would be made",
        "  EXECUTION_MODE_INVALID  request/execution_mode",
    ]
    as_json = command("explain", "--json", "--runner", "runner.json", "--engine", "claude", "done.txt", cwd=folder)
    assert as_json.returncode == 1
    assert json.loads(as_json.stdout)["refused"]["code"] == "SKILL_ENGINE_UNSUPPORTED"


def test_a_file_that_cannot_be_read_is_1(folder: Path) -> None:
    (folder / "latin.txt").write_bytes(b"gr\xf6\xdfer")
    for options in (["nowhere.txt"], ["latin.txt"], ["--schema", "nowhere.json", "done.txt"], ["."]):
        told = command("explain", *options, cwd=folder)
        assert told.returncode == 1
        assert told.stdout == b"" and told.stderr.startswith(b"error: ")
        assert b"Traceback" not in told.stderr


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nothing"],
        ["explain"],
        ["explain", "a", "b"],
        ["explain", "--colour", "a"],
        ["explain", "--att", "1", "a"],
        ["explain", "--attempt", "x", "a"],
        ["explain", "--attempt", "-1", "a"],
        ["explain", "--exit-code", "x", "a"],
        ["explain", "--mode"],
        ["explain", "--stream", "codex", "a"],
        ["explain", "--stderr", "a", "a"],
    ],
)
def test_a_command_that_is_not_understood_is_2(folder: Path, words: list[str]) -> None:
    told = command(*words, cwd=folder)
    assert told.returncode == 2
    assert told.stdout == b"" and b"usage: turnlatch" in told.stderr


def test_codes_version_and_help(folder: Path) -> None:
    told = command("codes", cwd=folder).stdout.decode()
    assert all(info["code"] in told and info["remedy"] in told for info in turnlatch.codes())
    assert json.loads(command("codes", "--json", cwd=folder).stdout) == turnlatch.codes()
    assert command("--version", cwd=folder).stdout.decode().strip() == f"turnlatch {turnlatch.__version__}"
    assert command("--help", cwd=folder).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("environment", "colour"), [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, False)])
def test_colour_is_for_terminals(folder: Path, environment: dict[str, str], colour: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    variables = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    variables.update(PYTHONPATH=str(Path(turnlatch.__file__).parents[1]), **environment)
    subprocess.run(
        [sys.executable, "-m", "turnlatch", "explain", "done.txt"],
        cwd=folder,
        env=variables,
        stdout=theirs,
        timeout=60,
        check=True,
    )
    os.close(theirs)
    told = os.read(ours, 100_000)
    os.close(ours)
    assert told.startswith(b"\x1b[1;32msucceeded\x1b[0m  by") == colour
    assert (b"\x1b" in told) == colour


@pytest.mark.skipif(sys.platform == "win32", reason="there is no head")
def test_a_reader_that_has_enough_is_no_traceback(folder: Path) -> None:
    told = subprocess.run(
        f"{sys.executable} -m turnlatch codes | head -n 1",
        shell=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(turnlatch.__file__).parents[1])},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert b"Traceback" not in told.stderr and b"BrokenPipe" not in told.stderr
