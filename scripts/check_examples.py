#!/usr/bin/env python3
"""Runs the command-line examples, which `make test-rust` has built with everything else, and checks what they print."""

import json
import pathlib
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "target" / "debug" / "examples"
SCHEMA = '{"type": "object", "required": ["answer"], "properties": {"answer": {"type": "integer"}}}'


def run(example: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([EXAMPLES / example, *arguments], capture_output=True, text=True, input=stdin, check=False)


passed: list[str] = []


def expect(condition: bool, what: str, result: subprocess.CompletedProcess[str]) -> None:
    if not condition:
        print(f"FAILED: {what}\nexit {result.returncode}\n{result.stdout}\n{result.stderr}")
        sys.exit(1)
    passed.append(what)
    print(f"ok: {what}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = {"schema.json": SCHEMA, "runner.json": '{"execution_modes": ["auto", "interactive"], "max_attempt": 2}'}
        files["turn.txt"] = "Which answer do you want?"
        paths = {name: str(pathlib.Path(folder, name)) for name in files}
        for name, text in files.items():
            pathlib.Path(paths[name]).write_text(text, encoding="utf-8")
        skill = ["--runner", paths["runner.json"], "--schema", paths["schema.json"]]

        waits = run("explain", *skill, "--mode", "interactive", paths["turn.txt"])
        told = ["waiting_user  by GATE-7", "Which answer do you want?", "attempt 1 of 2"]
        expect(
            waits.returncode == 0 and all(text in waits.stdout for text in told), "explain tells why a run waits", waits
        )
        expect("\x1b[" not in waits.stdout, "explain writes no colour into a pipe", waits)

        last = run("explain", *skill, "--attempt", "2", "--json", paths["turn.txt"])
        code = json.loads(last.stdout)["decision"]["code"]
        expect(code == "INTERACTIVE_MAX_ATTEMPT_EXCEEDED", "explain --json gives the judgement as data", last)

        done = run("explain", *skill, "-", stdin='{"answer": 42, "__SKILL_DONE__": true}')
        expect("succeeded  by GATE-3" in done.stdout, "explain reads standard input", done)

        refused = run("explain", "--mode", "sometimes", paths["turn.txt"])
        expect(
            refused.returncode == 1 and "EXECUTION_MODE_INVALID" in refused.stdout, "explain tells a refusal", refused
        )
        usage = run("explain", "--what")
        expect(usage.returncode == 2 and "usage:" in usage.stderr, "explain says how it is used", usage)

        codes = run("codes")
        expect("STALE_INTERACTION" in codes.stdout and "409" in codes.stdout, "codes prints the table", codes)
        demo = run("interactive_run")
        expect("restored and equal: true" in demo.stdout, "the demo runs to its end", demo)
    print(f"{len(passed)} passed, 0 failed")


if __name__ == "__main__":
    main()
