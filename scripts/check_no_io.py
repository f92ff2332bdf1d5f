#!/usr/bin/env python3
"""Shows that no schema makes the core open a file or a socket: all system calls are looked at while it judges them.

usage: check_no_io.py CHECKER PYTHON     the core as a program, and a Python that has the package; needs strace
"""

import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import gates

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ("turnlatch", "turnlatch-python", "turnlatch-wasm")
# What could reach a file, a socket or another program. Between two writes to the standard output there is to be none.
TRACED = "%file,%network,%process,?io_uring_setup,write"
# Crates that speak to networks; features of the schema engine that make it do so, or read files.
SPEAKERS = ("curl", "hyper", "isahc", "native-tls", "openssl", "reqwest", "rustls", "socket2", "tokio", "ureq")
RESOLVING = ("http", "file", "reqwest", "tls", "async")
PLACES = {
    "at the top": lambda schema: {"type": "object", **schema},
    "in a property": lambda schema: {"type": "object", "properties": {"answer": schema}},
    "in a definition": lambda schema: {"type": "object", "$defs": {"other": schema}, "definitions": {"other": schema}},
    "behind a union": lambda schema: {
        "type": "object",
        "anyOf": [{"required": ["answer"]}, {"not": {"allOf": [schema]}}],
    },
}
KEYWORDS = ("$ref", "$dynamicRef", "$recursiveRef", "$schema")
DONE = {"type": "turn_finished", "attempt_number": 1, "text": '{"answer": 1, "__SKILL_DONE__": true}'}
HARMLESS = {"type": "object", "properties": {"answer": {"type": "integer"}}}
# The same in a Python process: what it is asked is read before the first write.
IN_PYTHON = """
import json, os, sys, turnlatch
schemas = json.load(open(sys.argv[1]))
request = {"run_id": "r1", "engine": "codex", "execution_mode": "auto"}
def judge(schema):
    try:
        skill = turnlatch.Skill({"execution_modes": ["auto"]}, schema)
        run, _ = turnlatch.Run.create(turnlatch.admit(skill, request, engines=["codex"]), 0)
        run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 1)
        run.apply({"type": "turn_finished", "attempt_number": 1, "text": '{"answer": 1}'}, 2)
        return run.status
    except turnlatch.AdmissionError as refused:
        return refused.code
judge(schemas[0]), judge(schemas[-1])
os.write(1, b"begin\\n")
codes = [judge(schema) for schema in schemas]
os.write(1, (json.dumps(codes) + "\\n").encode())
"""
# What has to be noticed, so that noticing nothing means something.
CONTROLS = {
    "a file": "open('/etc/hostname')",
    "a missing file": "os.path.exists('/nowhere/at/all')",
    "a socket": "socket.socket().close()",
    "a program": "os.spawnlp(os.P_WAIT, 'true', 'true')",
}


def main() -> None:
    checker, python = sys.argv[1:]
    check_features()
    for what, deed in CONTROLS.items():
        program = f"import os, socket; os.write(1, b'begin'); {deed}; os.write(1, b'end')"
        assert traced([python, "-I", "-c", program])[1], f"the trace does not show {what}"
    with tempfile.TemporaryDirectory() as folder:
        there = pathlib.Path(folder) / "there.json"
        there.write_text('{"type": "integer"}', encoding="utf-8")
        hostile, scripts = schemas(there), of_vectors()
        check_program(checker, hostile, scripts)
        check_package(python, hostile, pathlib.Path(folder))
    count = len(hostile) + len(scripts)
    gates.leave("no-io", {"schemas": count, "controls noticed": len(CONTROLS), "files, sockets or programs opened": 0})
    print(f"no-io: {count} schemas opened no file, no socket and no program; no package can resolve references")


def check_features() -> None:
    """Of no package, what its schema engine could resolve references with is built."""
    for package in PACKAGES:
        command = ["cargo", "tree", "--locked", "--package", package, "--edges", "normal,build", "--target", "all"]
        tree = subprocess.run(
            [*command, "--prefix", "none", "--format", "{p}|{f}"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        crates = {
            line.split()[0]: line.rpartition("|")[2].removesuffix(" (*)").split(",") for line in tree.splitlines()
        }
        assert crates.keys().isdisjoint(SPEAKERS), f"{package} can speak to networks: {crates.keys() & set(SPEAKERS)}"
        assert "jsonschema" in crates, f"{package} has no schema engine: what is looked at here?"
        assert crates["jsonschema"] == [""], f"{package}: the schema engine is built with {crates['jsonschema']}"
        for crate in ("referencing", "jsonschema-referencing"):
            resolving = [name for name in crates.get(crate, []) if any(word in name for word in RESOLVING)]
            assert not resolving, f"{package}: {crate} is built with {resolving}"


def schemas(there: pathlib.Path) -> list[dict[str, Any]]:
    """Every way to point out of the document, also at a file that is there and a name that can be resolved."""
    targets = [
        *(f"{scheme}://localhost:9/s.json" for scheme in ("http", "https", "ftp", "ws", "HTTP")),
        *(f"http://{host}/s.json#/$defs/a" for host in ("127.0.0.1:9", "[::1]:9", "169.254.169.254", "example.com")),
        *(there.as_uri(), f"{there.as_uri()}#", f"file:{there}", f"file://localhost{there}", "FILE:///etc/passwd"),
        *(str(there), "there.json", "./there.json", "../there.json#/$defs/a", "//localhost/s.json", "localhost"),
        *("data:application/json,{}", "data:application/json;base64,e30=", "urn:example:other", "jar:file:/a!/b"),
        *("\\\\localhost\\share\\s.json", "C:\\s.json", "file:///dev/stdin", "file:///proc/self/environ"),
    ]
    pointing = [
        place({keyword: target}) for place, keyword, target in itertools.product(PLACES.values(), KEYWORDS, targets)
    ]
    based = [{"$id": target, "type": "object", "properties": {"a": {"$ref": "other.json"}}} for target in targets]
    return [*pointing, *based]


def of_vectors() -> list[dict[str, Any]]:
    """What the vectors are given, where a schema refers to something."""
    found = []
    for path in sorted((ROOT / "tests" / "vectors").rglob("*.json")):
        for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]:
            if any(f'"{keyword}' in json.dumps(vector.get("given", {})).replace("\\", "") for keyword in KEYWORDS):
                found.append({"given": vector["given"], "events": []})
    assert found, "no vector refers to anything"
    return found


def check_program(checker: str, hostile: list[dict[str, Any]], scripts: list[dict[str, Any]]) -> None:
    granted = [{"type": "slot_granted", "slot_id": "r1/s1"}, 1]
    asked = [
        {"given": {"skill": {"output_schema": schema}}, "events": [granted, [DONE, 2]]}
        for schema in (HARMLESS, {"$ref": "there.json"}, *hostile, HARMLESS)
    ]
    lines = [json.dumps(script) for script in [*asked[:-1], *scripts, asked[-1]]]
    answers, seen = traced([checker], "\n".join(lines) + "\n")
    assert not seen, f"the core reached out: {seen[:5]}"
    told = [json.loads(line) for line in answers.splitlines()]
    assert len(told) == len(lines), "not every script was answered"
    # A transcript's first text is what admission said; each of the others begins with a line for the answer.
    check_codes(hostile, [json.loads(texts[0]).get("refused", {}).get("code", "") for texts in told[2:]])
    for texts in (told[0], told[-1]):
        assert json.loads(texts[-1].splitlines()[0])["status"] == "succeeded"


def check_package(python: str, hostile: list[dict[str, Any]], folder: pathlib.Path) -> None:
    asked = folder / "asked.json"
    asked.write_text(json.dumps([HARMLESS, *hostile]), encoding="utf-8")
    answers, seen = traced([python, "-I", "-c", IN_PYTHON, str(asked)])
    assert not seen, f"the package reached out: {seen[:5]}"
    codes = json.loads(answers.splitlines()[1])
    assert codes[0] == "succeeded", codes[0]
    check_codes(hostile, codes[1:])


def check_codes(hostile: list[dict[str, Any]], codes: list[str]) -> None:
    for schema, code in zip(hostile, codes, strict=False):
        assert code == "SCHEMA_REF_FORBIDDEN", f"{json.dumps(schema)}: {code or 'admitted'}"


def traced(command: list[str], text: str = "") -> tuple[str, list[str]]:
    """What it printed, and its system calls between its first and its last write to the standard output."""
    with tempfile.NamedTemporaryFile() as trace:
        options = ["-f", "-qq", "-s", "200", "-e", f"trace={TRACED}", "-e", "signal=none", "-o", trace.name]
        try:
            done = subprocess.run(
                ["strace", *options, *command], input=text, capture_output=True, text=True, check=False, cwd="/"
            )
        except FileNotFoundError:
            sys.exit("strace is needed: install it (make setup-strace)")
        calls = [line.split(maxsplit=1)[1] for line in trace.read().decode(errors="replace").splitlines()]
    assert done.returncode == 0, f"{command[:1]} ended with {done.returncode}: {done.stderr[-2000:]}"
    writes = [n for n, call in enumerate(calls) if call.startswith("write(1,")]
    assert len(writes) >= 2, f"the trace shows {len(writes)} writes: is tracing allowed here? {done.stderr[-2000:]}"
    return done.stdout, [call for call in calls[writes[0] : writes[-1]] if not call.startswith("write(")]


if __name__ == "__main__":
    main()
