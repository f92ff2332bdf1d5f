#!/usr/bin/env python3
"""Random scripts in Rust, Python, Node and Chromium, which must come to the same; in rounds, each with its own seed.

usage: differential.py [events]     TURNLATCH_SEED=n is the seed of the first round (`make differential`)
"""

import json
import os
import pathlib
import secrets
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
# The scripts of a round lie in one file, which every runtime reads.
ROUND = 200_000
PYTEST = [VENV / "bin" / "pytest", "-q", "--config-file", ROOT / "bindings-python" / "pyproject.toml"]
OTHERS = {
    "Python": ([*PYTEST, ROOT / "bindings-python" / "tests" / "test_differential.py"], VENV),
    "JavaScript": (["node", "scripts/test.mjs", "differential"], ROOT / "bindings-wasm"),
}
RUNTIMES = ("rust", "python", "node", "chromium")
GATES = [ROOT / "target" / "gates" / f"differential.{runtime}.json" for runtime in RUNTIMES]


def main() -> int:
    events = int(sys.argv[1]) if sys.argv[1:] else ROUND
    first = int(os.environ.get("TURNLATCH_SEED", secrets.randbits(32)))
    size = min(events, ROUND)
    totals = {gate: {"events": 0, "scripts": 0, "seed": first} for gate in GATES}
    for seed in range(first, first + -(-events // size)):
        print(f"TURNLATCH_SEED={seed} make differential{'' if size == ROUND else f' EVENTS={size}'}", flush=True)
        if not try_round(seed, size):
            return 1
        for gate, total in totals.items():
            counts = json.loads(gate.read_text(encoding="utf-8"))["counts"]
            assert counts["seed"] == seed, f"{gate.name} is of another round"
            total["events"] += counts["events"]
            total["scripts"] += counts["scripts"]
    for gate, total in totals.items():
        gate.write_text(json.dumps({"counts": total}), encoding="utf-8")
        print(f"{gate.stem}: {total['events']:,} events of {total['scripts']:,} scripts came to the same")
    return 0


def try_round(seed: int, events: int) -> bool:
    environment = {**os.environ, "TURNLATCH_SEED": str(seed)}
    for gate in GATES:
        gate.unlink(missing_ok=True)
    if subprocess.run([ROOT / "target" / "debug" / "differential", str(events)], env=environment).returncode != 0:
        return False
    started = {
        name: subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        )
        for name, (command, folder) in OTHERS.items()
    }
    said = {name: process.communicate()[0] for name, process in started.items()}
    failed = [name for name, process in started.items() if process.returncode != 0]
    for name in failed:
        print(f"{name}:\n{said[name]}", file=sys.stderr)
    return not failed


if __name__ == "__main__":
    sys.exit(main())
