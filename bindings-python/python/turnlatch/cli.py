"""``python -m turnlatch``: explains one puzzling agent output, and prints the table of codes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO, cast, get_args

from . import __version__, types
from .errors import AdmissionError, TurnlatchError
from .run import Plan, Skill, admit, codes, display_text, evaluate_turn
from .stream import decode_stream

_FORMATS: tuple[types.StreamFormat, ...] = get_args(types.StreamFormat)
_MOST_LOOKED_AT = 200_000  # characters, to recognise a format
_RUNNER = '{"execution_modes": ["auto", "interactive"]}'
_BOLD, _GREY, _RED, _GREEN, _YELLOW = "1", "90", "1;31", "1;32", "1;33"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. 0: done, whatever the judgement is; 1: it could not be done; 2: it was not understood."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.command == "explain" and given.stderr is not None and given.stream is None:
        parser.error("--stderr needs --stream")
    for stream in (sys.stdout, sys.stderr):
        _take_every_character(stream)
    try:
        if given.command == "codes":
            return _codes(as_json=given.json)
        return _explain(given)
    except BrokenPipeError:
        # Whoever read it has read enough. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, UnicodeError, TurnlatchError) as error:
        print(f"error: {display_text(_one_text(str(error)))}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="turnlatch", description="Decides when an AI agent's turn is done.")
    parser.add_argument("--version", action="version", version=f"turnlatch {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    explain = commands.add_parser(
        "explain",
        allow_abbrev=False,
        help="what the gates make of one agent output, and why",
        description="What the gates make of one agent output, and why. Exits with 0 whatever they decide.",
        epilog="formats of --stream:\n  " + "\n  ".join(_FORMATS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    explain.add_argument("turn", metavar="TURN", help="a file with the assistant's text, or - for standard input")
    explain.add_argument(
        "--stream",
        metavar="FORMAT",
        choices=_FORMATS,
        help="TURN is not the assistant's text, but the stdout of an agent's program in this format",
    )
    explain.add_argument("--stderr", metavar="FILE", help="what the agent's process wrote to stderr; with --stream")
    explain.add_argument("--runner", metavar="FILE", help="the skill's runner.json (default: allows both modes)")
    explain.add_argument("--schema", metavar="FILE", help="the skill's output schema (default: none)")
    explain.add_argument("--mode", default="interactive", help="auto or interactive (default: interactive)")
    explain.add_argument("--engine", metavar="NAME", help="default: the first the skill declares, else codex")
    explain.add_argument("--attempt", metavar="N", type=_attempt, default=1, help="the number of the turn (default: 1)")
    explain.add_argument("--exit-code", metavar="N", type=int, default=0, help="of the process (default: 0)")
    explain.add_argument("--json", action="store_true", help="print the judgement as JSON")
    listed = commands.add_parser("codes", help="every stable code, what it means and what to do about it")
    listed.add_argument("--json", action="store_true", help="print them as JSON")
    return parser


def _attempt(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**32:
        raise ValueError
    return number


def _explain(given: argparse.Namespace) -> int:
    try:
        plan = _plan(given)
    except AdmissionError as refusal:
        _report_refusal(refusal, as_json=given.json)
        return 1
    text = _decoded("standard input", sys.stdin.buffer.read()) if given.turn == "-" else _read(given.turn)
    report: types.TurnReport
    if given.stream is None:
        report = {"attempt_number": given.attempt, "exit_code": given.exit_code, "text": text}
        _hint_at_stream(text)
    else:
        stderr = "" if given.stderr is None else _read(given.stderr)
        stream: types.TurnStream = {
            "format": given.stream,
            "stdout": text,
            "exit_code": given.exit_code,
            "stderr": stderr,
        }
        report = {"attempt_number": given.attempt, "stream": stream}
    judged = evaluate_turn(plan, report)
    if given.json:
        _print_json(judged)
        return 0
    _Report(sys.stdout, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ).write(plan, judged)
    return 0


def _hint_at_stream(text: str) -> None:
    """Says so if the text is an agent's stream: as text, the gates make nothing of it."""
    formats = _likely_formats(text[:_MOST_LOOKED_AT])
    if formats:
        options = " or ".join(f"--stream {name}" for name in formats)
        print(f"hint: this looks like an agent's stdout, not like the assistant's text; try {options}", file=sys.stderr)


def _likely_formats(text: str) -> list[types.StreamFormat]:
    """The formats in which the text has an assistant's words or a session, with the fewest rows that are not known."""
    unknown_rows: dict[types.StreamFormat, int] = {}
    for format in _FORMATS:
        if format == "text" or "{" not in text:
            continue
        decoded = decode_stream({"format": format, "stdout": text})
        if "session_handle" in decoded or any(said["role"] == "assistant" for said in decoded["messages"]):
            unknown_rows[format] = sum(note["code"] == "STREAM_ROW_UNKNOWN" for note in decoded["diagnostics"])
    fewest = min(unknown_rows.values(), default=0)
    return [format for format, unknown in unknown_rows.items() if unknown == fewest]


def _plan(given: argparse.Namespace) -> Plan:
    runner = _RUNNER if given.runner is None else _read(given.runner)
    engines, excluded = _names(runner, "engines"), _names(runner, "unsupported_engines")
    first = next((name for name in engines if name not in excluded), "codex")
    engine: str = given.engine if given.engine is not None else first
    request: types.RunRequest = {"run_id": "explain", "engine": engine, "execution_mode": given.mode}
    schema = None if given.schema is None else _read(given.schema)
    known = [*engines, *excluded, engine]
    return admit(Skill(runner, schema), request, engines=known)


def _names(runner: str, field: str) -> list[str]:
    """The names a manifest lists; none if it cannot be read, for admission says that better."""
    try:
        declared: Any = json.loads(runner)
    except (ValueError, RecursionError):
        return []
    names: Any = cast("dict[str, Any]", declared).get(field) if isinstance(declared, dict) else None
    listed = cast("list[object]", names) if isinstance(names, list) else []
    return [name for name in listed if isinstance(name, str)]


def _read(path: str) -> str:
    return _decoded(path, Path(path).read_bytes())


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnicodeError(f"{name}: it is not UTF-8, at byte {error.start}") from None


def _report_refusal(refusal: AdmissionError, *, as_json: bool) -> None:
    problems = cast("list[types.Problem]", refusal.details)
    if as_json:
        told = {"code": refusal.code, "message": refusal.message, "problems": problems}
        _print_json({"refused": told})
        return
    remedies = _remedies()
    print("refused at admission: no run would be made")
    for problem in problems:
        print(f"  {problem['code']}  {problem['path']}\n      {problem['message']}")
        print(f"      {remedies[problem['code']]}")


def _codes(*, as_json: bool) -> int:
    table = codes()
    if as_json:
        _print_json(table)
        return 0
    width = max(len(info["code"]) for info in table)
    kind = ""
    for info in table:
        if info["kind"] != kind:
            kind = info["kind"]
            print(f"\n{kind.capitalize()}")
        print(f"  {info['code']:{width}}  {info['http']}  {info['meaning']}\n  {'':{width}}       {info['remedy']}")
    return 0


def _remedies() -> dict[str, str]:
    return {info["code"]: info["remedy"] for info in codes()}


class _Report:
    """A judgement for people."""

    def __init__(self, out: TextIO, *, colour: bool) -> None:
        self.out = out
        self.colour = colour

    def write(self, plan: Plan, judged: types.Evaluation) -> None:
        decision, remedies = judged["decision"], _remedies()
        outcome, code = decision["outcome"], decision.get("code")
        colour = {"succeeded": _GREEN, "failed": _RED, "waiting_user": _YELLOW}[outcome]
        self.line(f"{self.paint(colour, outcome)}  by {decision['rule']}{'' if code is None else '  ' + code}")
        self.line(f"  {decision['message']}")
        self.evidence(decision["evidence"])
        self.heading("gates, in order")
        for check in decision["checks"]:
            sign, colour = ("next   ", _GREY) if check["result"] == "passed" else ("decides", _BOLD)
            told = self.paint(colour, f"{sign}  {check['gate']:7}  {check['detail']}")
            self.line(f"  {told}")
        notes = [*plan.warnings, *decision["warnings"], *decision["diagnostics"]]
        if notes:
            self.heading("worth knowing")
        for note in notes:
            self.line(f"  {self.paint(_YELLOW, note['code'])}  {note['message']}\n      {remedies[note['code']]}")
        if code in remedies:
            self.heading("what to do")
            self.line(f"  {remedies[code]}")
        if "question" in judged:
            self.question(judged["question"])
        if "data_text" in judged:
            self.heading("result")
            self.line(f"  {display_text(judged['data_text'])}")

    def evidence(self, evidence: types.Evidence) -> None:
        self.heading("evidence")
        self.line(f"  done marker  {_words(evidence['marker'])}")
        source = f", found in: {_words(evidence['source'])}" if "source" in evidence else ""
        self.line(f"  output       {_words(evidence['output'])}{source}")
        for violation in evidence.get("violations", []):
            place = display_text(violation["instance_path"] or "/")
            self.line(f"               {place}  {violation['message']}  ({violation['schema_path']})")
        self.line(f"  asks         {'yes' if evidence['asks'] else 'no'}")

    def question(self, question: types.Question) -> None:
        self.heading("the user would be asked")
        for line in _lines(question["display_prompt"]):
            self.line(f"  | {line}")
        for option in question["options"]:
            self.line(f"  - {display_text(option['label'])}")

    def heading(self, text: str) -> None:
        self.line(f"\n{self.paint(_BOLD, text)}")

    def paint(self, colour: str, text: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour else text

    def line(self, text: str) -> None:
        self.out.write(text + "\n")


def _print_json(data: object) -> None:
    """JSON that stays JSON where not every character can be written."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(data, indent=2)
    print(text)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _lines(text: str) -> list[str]:
    """Lines as Rust has them: str.splitlines would also break at form feeds and the like."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _one_text(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def _take_every_character(stream: TextIO) -> None:
    """What a terminal or pipe cannot write is escaped, never a crash."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
