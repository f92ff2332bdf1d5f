"""The benchmark: everybody in one interleaved run. ``make bench`` builds what it needs and starts it.

usage: python3 bench [--quick] [--only NAME[,NAME...]] [--turns]
A run that is not a full one is for trying: it leaves the docs as they are.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import machine
import others
import page
import tables
from cases import all_cases
from contenders import BUILT, CONTENDERS
from measuring import FULL, QUICK, measure
from processes import Worker
from targets import all_targets

COLD_STARTS = 5


def main() -> None:
    options = argparse.ArgumentParser(description="the benchmark of turnlatch and its peers")
    options.add_argument("--quick", action="store_true", help="fewer rounds, nothing over 64 KB")
    options.add_argument("--only", default="", help="names of contenders, with commas between them")
    options.add_argument("--turns", action="store_true", help="turns alone")
    given = options.parse_args()
    only = set(filter(None, given.only.split(",")))
    results = run(given.quick, only, given.turns)
    results["full"] = not (given.quick or only or given.turns)
    BUILT.joinpath("results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")
    show(results)
    if results["full"]:
        page.write(results)
        print(f"\nwritten: {page.PAGE.name} and {page.PLOT.name} in docs")
    print(f"everything: {BUILT / 'results.json'}")


def run(quick: bool, only: set[str], turns_alone: bool) -> dict[str, Any]:
    folder = BUILT / "cases"
    folder.mkdir(parents=True, exist_ok=True)
    effort = QUICK if quick else FULL
    results: dict[str, Any] = {"machine": machine.describe(), "turns": {}, "steps": {}, "memory": {}}
    workers = [Worker(contender) for contender in CONTENDERS if not only or contender.name in only]
    cases = all_cases(quick)
    try:
        for number, case in enumerate(cases, 1):
            path = case.write(folder)
            say(f"{number}/{len(cases)} {case.name}")
            taken = measure(workers, path, case.expected, effort)
            results["turns"][case.name] = {"size": case.size, "bytes": case.bytes, "kind": case.kind, "results": taken}
        if not turns_alone:
            results["steps"] = others.steps(workers, folder, effort, say)
    finally:
        for worker in workers:
            worker.close()
    if not (turns_alone or only):
        results["memory"] = others.memory(quick, say)
        small = next(case for case in cases if case.kind == "marker + valid").write(folder)
        results["cold_starts"] = others.cold_starts(small, 1 if quick else COLD_STARTS, say)
        say("sizes")
        results["sizes"] = others.sizes()
    results["targets"] = all_targets(results)
    return results


BEGAN = time.monotonic()


def say(what: str) -> None:
    print(f"{time.monotonic() - BEGAN:5.0f} s  {what}", file=sys.stderr, flush=True)


def show(results: dict[str, Any]) -> None:
    shown = [("Targets", tables.targets), ("Turns", tables.turns), ("Where a peer is faster", tables.faster_peers)]
    parts = {"steps": tables.steps, "memory": tables.memory, "cold_starts": tables.cold_starts, "sizes": tables.sizes}
    shown += [(name.replace("_", " ").capitalize(), table) for name, table in parts.items() if results.get(name)]
    for title, table in shown:
        print(f"\n{title}\n{tables.as_text(table(results))}")


if __name__ == "__main__":
    main()
