"""Agents as real processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import turnlatch.processes
from hosting import plan, processes_marked, until
from turnlatch import AsyncioTimers, Driver, EventRejectedError, LocalSlots, MemoryStore, Run
from turnlatch.processes import Command, SubprocessRunner
from turnlatch.types import StartTurn

EFFECT: StartTurn = {"type": "start_turn", "id": "r1/2/1", "attempt_number": 1, "slot_id": "r1/s1"}


def a_run(limits: dict[str, int] | None = None) -> Run:
    return Run.create(plan(limits=limits), 1)[0]


def said(*texts: str) -> dict[str, Any]:
    """The report of a turn in which the assistant said this."""
    return {"messages": [{"role": "assistant", "text": text} for text in texts]}


def python(code: str, **options: Any) -> Command:
    return Command([sys.executable, "-S", "-c", code], **options)


def run_command(command: Command, limits: dict[str, int] | None = None) -> tuple[dict[str, Any], SubprocessRunner]:
    async def scenario() -> tuple[dict[str, Any], SubprocessRunner]:
        runner = SubprocessRunner(lambda run, effect: command, grace_sec=0.5)
        reports: list[Any] = []
        await runner.start(a_run(limits), EFFECT, reports.append)
        assert list(runner.running()) == ["r1/s1"]
        await until(lambda: bool(reports), 20)
        assert list(runner.running()) == []
        await runner.close()
        assert len(reports) == 1
        return reports[0], runner

    return asyncio.run(scenario())


def with_runner(command: Command, scenario: Callable[[SubprocessRunner, list[Any]], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        runner = SubprocessRunner(lambda run, effect: command, grace_sec=0.5)
        reports: list[Any] = []
        await runner.start(a_run(), EFFECT, reports.append)
        try:
            await scenario(runner, reports)
        finally:
            await runner.close()

    asyncio.run(main())


def test_output_and_exit_code() -> None:
    assert run_command(Command(["sh", "-c", "echo hello"]))[0] == {**said("hello\n"), "exit_code": 0}
    assert run_command(Command(["sh", "-c", "echo half; exit 3"]))[0] == {**said("half\n"), "exit_code": 3}


@pytest.mark.parametrize("whom", ["$$", "$PPID"], ids=["the command", "its supervisor"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_signal_is_reported_as_shells_do(number: int, whom: str) -> None:
    report, *_ = run_command(Command(["sh", "-c", f"kill -{number:d} {whom}"]))
    assert report == {"messages": [], "exit_code": 128 + number}


def test_input_environment_and_directory(tmp_path: Any) -> None:
    command = Command(
        ["sh", "-c", "cat; echo $WORD; pwd"], stdin="in\n", env={"WORD": "w", "PATH": "/usr/bin:/bin"}, cwd=tmp_path
    )
    assert run_command(command)[0] == {**said(f"in\nw\n{tmp_path.resolve()}\n"), "exit_code": 0}
    assert run_command(Command(["cat"]))[0] == {"messages": [], "exit_code": 0}, "without stdin the input is empty"


def test_a_large_input_that_nobody_reads_does_no_harm() -> None:
    assert run_command(Command(["sh", "-c", "echo ok"], stdin="x" * 5_000_000))[0] == {**said("ok\n"), "exit_code": 0}


def test_a_character_cut_in_two_chunks_is_whole() -> None:
    code = r"""
import os, time
for byte in 'é€😀'.encode():
    os.write(1, bytes([byte])); time.sleep(0.01)
"""
    assert run_command(python(code))[0] == {**said("é€😀"), "exit_code": 0}


@pytest.mark.parametrize("octal", [r"\377", r"ok \342\202", r"\355\240\200"])
def test_output_that_is_not_utf8_is_a_failure(octal: str) -> None:
    assert run_command(Command(["printf", octal]))[0]["failure_reason"] == "OUTPUT_NOT_UTF8"


def test_a_process_whose_output_is_not_utf8_is_ended_at_once() -> None:
    command = Command(["sh", "-c", r"printf 'ok \377'; sleep 100"], timeout_sec=100)
    assert run_command(command)[0] == {**said("ok "), "failure_reason": "OUTPUT_NOT_UTF8"}


def test_a_sticky_process_whose_output_is_not_utf8_is_ended_and_its_earlier_turn_stands() -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(lambda: len(reports) == 2)
        assert reports == [said("one\n"), None]

    with_runner(Command(["sh", "-c", r"printf 'one\n==\n\377\n'; sleep 100"], end_of_turn="=="), scenario)


def test_a_turn_that_takes_too_long_inside_of_a_character_is_too_long() -> None:
    command = Command(["sh", "-c", r"printf 'ok \342\202'; sleep 100"], timeout_sec=0.3)
    assert run_command(command)[0] == {**said("ok "), "failure_reason": "TIMEOUT"}


@pytest.mark.parametrize(
    "options",
    [
        {"end_of_turn": "a\nb"},
        {"end_of_turn": "==\r"},
        {"end_of_turn": ""},
        {"sticky": True},
        {"stream": "codex-jsonl", "sticky": True},
        {"stream": "acp", "end_of_turn": "=="},
        {"stream": "xml"},
    ],
    ids=str,
)
def test_a_command_whose_turns_nobody_could_tell_apart(options: Any) -> None:
    with pytest.raises(EventRejectedError) as raised:
        Command(["cat"], **options)
    assert raised.value.code == "EVENT_MALFORMED"


def test_the_argv_of_a_command_is_a_list_that_begins_with_the_program() -> None:
    for argv in ("true", b"true"):
        with pytest.raises(TypeError, match=r"`argv` is a list of strings, not one string: b?'true'"):
            Command(argv)
    with pytest.raises(ValueError, match="`argv` is empty"):
        Command([])


@pytest.mark.parametrize("character", ["x", "é", "😀"])
def test_output_over_the_limit_is_cut_just_above_it_and_the_process_ended(character: str) -> None:
    code = f"import sys\nwhile True: sys.stdout.write('a' + {character!r} * 10000)"
    report = run_command(
        python(code, env={"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}), {"turn_text_bytes": 100_000}
    )[0]
    assert set(report) == {"messages"}
    [message] = report["messages"]
    assert 100_000 < len(message["text"].encode()) <= 100_000 + 65536
    run = a_run({"turn_text_bytes": 100_000})
    run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 2)
    run.apply({"type": "turn_finished", "attempt_number": 1, **report}, 3)
    assert "OUTPUT_TOO_LARGE" in str(run.explain())


def test_big_output_within_the_limit_is_whole() -> None:
    report = run_command(
        python("import sys; sys.stdout.write('0123456789' * 800_000); sys.stderr.write('e' * 1_000_000)")
    )
    assert report[0] == {**said("0123456789" * 800_000), "exit_code": 0}
    assert len(report[1].stderr("r1/s1")) == 64 * 1024


def test_stderr_is_kept_and_nobodys_words() -> None:
    report, runner = run_command(Command(["sh", "-c", "echo out; echo diagnosis >&2; exit 1"]))
    note = {"code": "AGENT_SAID", "message": "the last line of stderr is `diagnosis`"}
    assert report == {**said("out\n"), "exit_code": 1, "diagnostics": [note]}
    assert runner.stderr("r1/s1") == "diagnosis\n"


def test_a_command_that_does_not_exist_fails_and_says_so() -> None:
    report, runner = run_command(Command(["/no/such/agent"]))
    assert (report["messages"], report["exit_code"]) == ([], 127)
    assert "/no/such/agent: No such file" in runner.stderr("r1/s1")


def test_a_turn_that_takes_too_long_is_ended() -> None:
    mark = f"TURNLATCH_TEST={uuid.uuid4()}"
    env = {**os.environ, **dict([mark.split("=")])}
    report, _ = run_command(Command(["sh", "-c", "echo begin; sleep 100 & sleep 100"], env=env, timeout_sec=0.2))
    assert report == {**said("begin\n"), "failure_reason": "TIMEOUT"}
    assert processes_marked(mark) == []


TREE = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "100"])
subprocess.Popen(["sleep", "100"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "100"])
    os._exit(0)
os.wait()
print("up", flush=True)
time.sleep(100)
"""


def zombies() -> list[str]:
    """The children of this process that have ended and were not asked after."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may be gone by now
            stat = path.read_text(errors="replace")
            # Behind the name, in parentheses, come the state and the parent.
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state == "Z" and int(parent) == os.getpid():
                found.append(stat)
    return found


def test_terminate_ends_the_whole_tree_also_what_left_the_group_or_ignores_the_signal() -> None:
    mark = f"TURNLATCH_TEST={uuid.uuid4()}"
    command = python(TREE, env={**os.environ, **dict([mark.split("=")])})

    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(
            lambda: len(processes_marked(mark)) >= 5 and sum("sleep 100" in p for p in processes_marked(mark)) == 3
        )
        await runner.terminate("r1/s1")
        assert processes_marked(mark) == []
        assert list(runner.running()) == []
        assert reports == [], "nobody asked for the result of a terminated turn"
        await runner.terminate("r1/s1")
        assert zombies() == []

    with_runner(command, scenario)


def test_a_gentle_end_lets_the_agent_clean_up(tmp_path: Any) -> None:
    code = "trap 'echo bye > bye.txt; exit 0' TERM; echo up > up.txt; while :; do sleep 0.05; done"

    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until((tmp_path / "up.txt").exists)
        await runner.terminate("r1/s1")
        assert (tmp_path / "bye.txt").exists()

    with_runner(Command(["sh", "-c", code], cwd=tmp_path), scenario)


def test_children_left_behind_by_a_finished_agent_are_ended() -> None:
    mark = f"TURNLATCH_TEST={uuid.uuid4()}"
    env = {**os.environ, **dict([mark.split("=")])}
    assert run_command(Command(["sh", "-c", "sleep 100 & echo ok"], env=env))[0] == {**said("ok\n"), "exit_code": 0}
    assert processes_marked(mark) == []


HOST = """
import asyncio, sys
from test_processes import *
async def main():
    runner = SubprocessRunner(lambda run, effect: python(TREE), locks=sys.argv[1] if sys.argv[1:] else None)
    await runner.start(a_run(), EFFECT, print)
    await asyncio.sleep(100)
asyncio.run(main())
"""


def start_host(mark: str, *arguments: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(path for path in sys.path if path)
    env = {**os.environ, **dict([mark.split("=")]), "PYTHONPATH": path}
    return subprocess.Popen([sys.executable, "-c", HOST, *arguments], env=env)


async def tree_is_up(mark: str) -> None:
    await until(lambda: sum("sleep 100" in p for p in processes_marked(mark)) == 3, 20)


def test_everything_dies_with_the_host() -> None:
    mark = f"TURNLATCH_TEST={uuid.uuid4()}"
    host = start_host(mark)

    async def scenario() -> None:
        await tree_is_up(mark)
        host.send_signal(signal.SIGKILL)
        host.wait()
        await until(lambda: processes_marked(mark) == [])

    asyncio.run(scenario())


def driver_of(processes: SubprocessRunner) -> Driver:
    return Driver(slots=LocalSlots(1), timers=AsyncioTimers(), processes=processes, store=MemoryStore())


def stop_supervisor(mark: str) -> int:
    """Nothing is ended while it is stopped: as if the machine were very busy just then."""
    (supervisor,) = [int(p.split()[0]) for p in processes_marked(mark) if "_supervise.py" in p]
    os.kill(supervisor, signal.SIGSTOP)
    return supervisor


@pytest.mark.parametrize("ask", ["terminate", "start", "alive", "recover"])
def test_a_new_host_waits_until_nothing_of_the_killed_one_lives(tmp_path: Any, ask: str) -> None:
    mark = f"TURNLATCH_TEST={uuid.uuid4()}"
    host = start_host(mark, str(tmp_path))

    async def scenario() -> None:
        await tree_is_up(mark)
        supervisor = stop_supervisor(mark)
        host.send_signal(signal.SIGKILL)
        host.wait()
        runner = SubprocessRunner(lambda run, effect: Command(["true"]), locks=tmp_path)
        calls: dict[str, Callable[[], Any]] = {
            "terminate": lambda: runner.terminate("r1/s1"),
            "start": lambda: runner.start(a_run(), EFFECT, lambda report: None),
            "alive": runner.alive,
            "recover": driver_of(runner).recover,
        }
        await runner.terminate("another/s1")
        asked = asyncio.ensure_future(calls[ask]())
        await asyncio.sleep(0.3)
        assert not asked.done() and sum("sleep 100" in p for p in processes_marked(mark)) == 3
        os.kill(supervisor, signal.SIGCONT)
        await asked
        assert processes_marked(mark) == []
        await runner.close()
        assert os.listdir(tmp_path) == []

    asyncio.run(scenario())


def test_a_host_does_not_wait_for_itself(tmp_path: Any) -> None:
    async def scenario() -> None:
        runner = SubprocessRunner(lambda run, effect: python(TREE), grace_sec=0.1, locks=tmp_path)
        reports: list[Any] = []
        await runner.start(a_run(), EFFECT, reports.append)
        hostile: Any = {**EFFECT, "slot_id": "../\0\ud800/" + "x" * 5000}
        await runner.start(a_run(), hostile, reports.append)
        assert runner.running() == ["r1/s1", hostile["slot_id"]]
        assert len(os.listdir(tmp_path)) == 2
        await runner.terminate("r1/s1")
        assert runner.running() == [hostile["slot_id"]]
        await runner.close()
        assert os.listdir(tmp_path) == []

    asyncio.run(scenario())


def test_a_host_that_is_not_dead_is_not_waited_for_for_ever(tmp_path: Any, monkeypatch: Any) -> None:
    async def scenario() -> None:
        first = SubprocessRunner(lambda run, effect: Command(["sleep", "100"]), grace_sec=0.1, locks=tmp_path)
        await first.start(a_run(), EFFECT, lambda report: None)
        monkeypatch.setattr(turnlatch.processes, "UNKILLABLE_SEC", 0.1)
        monkeypatch.setattr(turnlatch.processes, "_SUPERVISORS_OWN_SEC", 0.1)
        second = SubprocessRunner(lambda run, effect: Command(["true"]), grace_sec=0.1, locks=tmp_path)
        assert await first.alive() == ["r1/s1"], "a host does not wait for itself"
        driver = driver_of(second)
        start = second.start(a_run(), EFFECT, print)
        for asked in (second.terminate("r1/s1"), start, second.alive(), driver.recover()):
            with pytest.raises(TimeoutError, match="another host"):
                await asked
        await first.close()
        await second.terminate("r1/s1")
        assert (await second.alive(), await driver.recover()) == ([], [])

    asyncio.run(scenario())


def test_a_command_that_cannot_be_spawned_leaves_no_lock(tmp_path: Any) -> None:
    async def scenario() -> None:
        command = Command(["true"], cwd=tmp_path / "nowhere")
        runner = SubprocessRunner(lambda run, effect: command, locks=tmp_path / "locks")
        for _ in range(2):
            with pytest.raises(FileNotFoundError):
                await runner.start(a_run(), EFFECT, print)
        assert os.listdir(tmp_path / "locks") == [] and runner.running() == []

    asyncio.run(scenario())


STICKY = """
import sys
print("Which file?", flush=True); print("=====", flush=True)
for line in sys.stdin:
    print("you said", line.strip(), flush=True); print("=====", flush=True)
"""


def inject(n: int, response: str) -> Any:
    return {
        "type": "inject_reply",
        "id": f"r1/{n}/1",
        "attempt_number": n,
        "slot_id": "r1/s1",
        "interaction_id": n - 1,
        "response": response,
    }


def test_a_sticky_process_takes_replies_line_by_line() -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(lambda: len(reports) == 1)
        assert reports == [said("Which file?\n")]
        await runner.inject(a_run(), inject(2, "the\nsecond"), lambda report: None)
        await runner.inject(a_run(), inject(2, "the\nsecond"), reports.append)
        await until(lambda: len(reports) == 2)
        await runner.inject(a_run(), inject(3, "größe"), reports.append)
        await until(lambda: len(reports) == 3)
        assert reports[1:] == [said("you said the second\n"), said("you said größe\n")]
        assert list(runner.running()) == ["r1/s1"]

    env = {**os.environ, "PYTHONUTF8": "1"}
    with_runner(python(STICKY, end_of_turn="=====", env=env), scenario)


def test_the_end_of_a_turn_that_nobody_may_have_heard_is_told_again() -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(lambda: len(reports) == 1)
        runner.attach("r1/s1", reports.append)
        await runner.start(a_run(), EFFECT, reports.append)
        assert reports == [said("Which file?\n")] * 3
        await runner.inject(a_run(), inject(2, "b"), reports.append)
        runner.attach("r1/s1", reports.append)
        await until(lambda: len(reports) == 4)
        await runner.inject(a_run(), inject(2, "b"), reports.append)
        assert reports[3:] == [said("you said b\n")] * 2

    with_runner(python(STICKY, end_of_turn="====="), scenario)


def test_a_sticky_process_that_ends_is_told_as_lost() -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(lambda: len(reports) == 2)
        assert reports == [said("bye\n"), None]
        await runner.inject(a_run(), inject(2, "x"), reports.append)
        assert reports[2:] == [None]

    with_runner(Command(["sh", "-c", "echo bye; echo ====="], end_of_turn="====="), scenario)


def test_a_sticky_process_that_breaks_off_a_turn_reports_it_and_its_end() -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(lambda: len(reports) == 2)
        assert reports == [{**said("half\n"), "exit_code": 4}, None]

    with_runner(Command(["sh", "-c", "printf half; exit 4"], end_of_turn="====="), scenario)


def test_each_turn_of_a_sticky_process_has_its_own_timeout() -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(lambda: len(reports) == 1)
        await asyncio.sleep(0.7)
        assert len(reports) == 1, "waiting for the user is no turn"
        await runner.inject(a_run(), inject(2, "x"), reports.append)
        await until(lambda: len(reports) == 3)
        assert reports[1:] == [{"messages": [], "failure_reason": "TIMEOUT"}, None]

    with_runner(Command(["sh", "-c", "echo q; echo =; sleep 100"], end_of_turn="=", timeout_sec=0.5), scenario)


CUT = r"""
import os, time
for byte in b'one\n=\xc3\xa9=\r\ntwo\n=\xc3\xa9= \n=\xc3\xa9=\n':
    os.write(1, bytes([byte])); time.sleep(0.002)
time.sleep(100)
"""


def test_the_line_that_ends_a_turn_may_be_cut_anywhere() -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await runner.inject(a_run(), inject(2, "go on"), reports.append)
        await until(lambda: len(reports) == 1)
        await runner.inject(a_run(), inject(3, "go on"), reports.append)
        await until(lambda: len(reports) == 2)
        assert reports == [said("one\n"), said("two\n=é= \n")]

    with_runner(python(CUT, end_of_turn="=é="), scenario)


ROWS = """
import json, sys
for line in sys.stdin:
    [part] = json.loads(line)["message"]["content"]
    print(json.dumps({"type": "system", "session_id": "s-1"}))
    print(json.dumps({"type": "assistant", "session_id": "s-1",
                      "message": {"content": [{"type": "text", "text": part["text"]}]}}))
    print(json.dumps({"type": "result", "usage": {"input_tokens": 1, "output_tokens": 2}}), flush=True)
"""


def test_a_sticky_process_that_says_itself_when_a_turn_is_over() -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(lambda: len(reports) == 1)
        await runner.inject(a_run(), inject(2, "two\nlines"), reports.append)
        await until(lambda: len(reports) == 2)
        rest = {"session_handle": "s-1", "usage": {"input_tokens": 1, "output_tokens": 2}}
        assert reports == [{**said("the prompt"), **rest}, {**said("two\nlines"), **rest}]

    with_runner(python(ROWS, stdin="the prompt", stream="claude-stream-json", sticky=True), scenario)


PROTOCOL = """
import json, os, sys
def answer(result):
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(sys.stdin.readline())["id"], "result": result}), flush=True)
answer({"protocolVersion": 1})
request = json.loads(sys.stdin.readline())
assert request["params"]["cwd"] == os.getcwd()
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"sessionId": "s-1"}}), flush=True)
while True:
    prompt = json.loads(sys.stdin.readline())
    print(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "session/request_permission",
                      "params": {"options": [{"optionId": "ok", "kind": "allow_once"}]}}), flush=True)
    leave = json.loads(sys.stdin.readline())["result"]["outcome"]["optionId"]
    text = prompt["params"]["prompt"][0]["text"] + " " + leave
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    print(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}}), flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "end_turn"}}), flush=True)
"""


def test_what_an_agent_asks_for_on_the_way_is_given(tmp_path: Path) -> None:
    async def scenario(runner: SubprocessRunner, reports: list[Any]) -> None:
        await until(lambda: len(reports) == 1)
        await runner.inject(a_run(), inject(2, "again"), reports.append)
        await until(lambda: len(reports) == 2)
        assert reports == [{**said("first ok"), "session_handle": "s-1"}, said("again ok")]

    command = python(PROTOCOL, stdin="first", stream="acp", sticky=True, cwd=str(tmp_path.resolve()))
    with_runner(command, scenario)


def heard(command: Command, on_said: Callable[[Any], None]) -> list[Any]:
    """The reports of one turn with somebody who listens."""

    async def scenario() -> list[Any]:
        runner = SubprocessRunner(lambda run, effect: command, grace_sec=0.5, on_said=on_said)
        reports: list[Any] = []
        await runner.start(a_run(), EFFECT, reports.append)
        await until(lambda: bool(reports))
        await runner.close()
        return reports

    return asyncio.run(scenario())


LINES = [
    {"role": "tool", "text": "looks"},
    {"role": "assistant", "text": "two"},
    {"role": "assistant", "text": "words"},
]
TALK = f"""
import json, time
for line in {LINES!r}:
    print(json.dumps(line), flush=True); time.sleep(0.05)
"""


def test_words_are_told_as_they_come() -> None:
    told: list[Any] = []
    assert heard(python(TALK, stream="ndjson"), told.append) == [{"messages": LINES, "exit_code": 0}]
    assert {(said["run_id"], said["attempt_number"]) for said in told} == {("r1", 1)}
    assert all(set(said) == {"run_id", "attempt_number", "pieces"} for said in told)
    pieces = [piece for said in told for piece in said["pieces"]]
    assert pieces == [{"message": number, **line} for number, line in enumerate(LINES)]
    assert len(told) > 1, "not only at the end"


def test_who_listens_cannot_break_a_turn(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_said: Any) -> None:
        raise KeyError("nobody there")

    assert heard(Command(["echo", "x"]), broken) == [{**said("x\n"), "exit_code": 0}]
    assert "on_said failed" in caplog.text


def test_what_is_said_while_nobody_asked_is_not_told() -> None:
    told: list[Any] = []
    command = Command(["sh", "-c", "echo one; echo =; echo two; echo =; sleep 100"], end_of_turn="=")
    assert heard(command, told.append)[:1] == [said("one\n")]
    assert {piece["text"] for words in told for piece in words["pieces"]} <= {"one", "\n"}
