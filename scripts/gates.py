#!/usr/bin/env python3
"""Prints what the gates of `make test` and `make proof` counted; a gate that left nothing is a failure.

usage: gates.py [--long]     reads target/gates, where gates that held left files; --long: also those of `make proof`
"""

import json
import pathlib
import sys
import textwrap
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "target" / "gates"
EVERYWHERE = ("rust", "python", "node", "chromium")
PACKAGES = ("python", "node")

# What each gate shows, and in which runtimes it has to have held.
GATES = {
    "model": ("a second lifecycle in a hostile world, every state", ()),
    "conformance": ("every transition of that lifecycle in the core", EVERYWHERE),
    "vectors": ("the rules of the spec", EVERYWHERE),
    "adversarial": ("attacks with the exact outcome", EVERYWHERE),
    "suites": ("JSON-Schema-Test-Suite and JSONTestSuite", EVERYWHERE),
    "differential": ("random events, snapshots compared after each", EVERYWHERE),
    "validation-cost": ("no schema within the limits makes a verdict explode", ()),
    "growth": ("instructions: linear in texts, flat in runs and history", ()),
    "failing-host": ("each callback fails or is the host's death", PACKAGES),
    "killed-host": ("a process with real agents killed at each boundary", PACKAGES),
    "no-io": ("schemas that ask for files and networks get none", ()),
    "supply-chain": ("dependencies, licences, and what packages contain", ()),
    "fuzz": ("random bytes, guided by coverage", ()),
}
ONLY_LONG = {
    "mutants": ("faults put into the core, and how many tests notice", ()),
    "miri": ("no undefined behaviour", ()),
}


def main() -> int:
    wanted = GATES | (ONLY_LONG if "--long" in sys.argv[1:] else {})
    rows, missing = [], []
    for gate, (shows, runtimes) in wanted.items():
        reports = {runtime: report(gate, runtime) for runtime in runtimes or ("",)}
        lacking = [runtime for runtime, counts in reports.items() if counts is None]
        missing += [f"{gate} {runtime}".strip() for runtime in lacking]
        rows += [(gate, shows, line) for line in lines(reports)]
    show(rows)
    if missing:
        print(f"did not hold, or did not run: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


def leave(gate: str, counts: dict[str, int]) -> None:
    """Leaves what a gate counted that is a script. Called last, once the gate has held."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{gate}.json").write_text(json.dumps({"counts": counts}), encoding="utf-8")


def report(gate: str, runtime: str) -> dict[str, Any] | None:
    path = FOLDER / (f"{gate}.{runtime}.json" if runtime else f"{gate}.json")
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def lines(reports: dict[str, dict[str, Any] | None]) -> list[str]:
    """The counts, once for all runtimes that have the same."""
    runtimes_of: dict[str, list[str]] = {}
    for runtime, report in reports.items():
        if report is not None:
            counts = ", ".join(
                f"seed {count}" if what == "seed" else f"{count:,} {what}" for what, count in report["counts"].items()
            )
            runtimes_of.setdefault(counts, []).append(runtime)
    return [f"{', '.join(runtimes)}: {counts}".removeprefix(": ") for counts, runtimes in runtimes_of.items()]


def show(rows: list[tuple[str, str, str]]) -> None:
    print(f"\n{'gate':<16} {'what it shows':<56} counts")
    previous = ""
    for gate, shows, counts in rows:
        first, *rest = textwrap.wrap(counts, 100)
        print(f"{'' if gate == previous else gate:<16} {'' if gate == previous else shows:<56} {first}")
        for line in rest:
            print(f"{'':<73} {line}")
        previous = gate


if __name__ == "__main__":
    sys.exit(main())
