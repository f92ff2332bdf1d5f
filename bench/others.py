"""What is measured besides turns: lifecycles, snapshots, replay, memory, cold starts and sizes."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contenders import BUILT, CONTENDERS, ROOT
from measuring import Effort, measure
from processes import Worker, cold_start

# What is done, what has to come of it, and how it is called.
STEPS: dict[str, tuple[Any, str]] = {
    "lifecycle": ("succeeded", "a full lifecycle: asked, answered, done"),
    "journal": (6, "the same, with its chained journal"),
    "snapshot": (None, "snapshot of a waiting run"),
    "restore": ("waiting_user", "restore of it"),
    "replay": (10_000, "a journal of 10,000 events, read back and replayed"),
}
MEMORY_PATIENCE = 300.0

Say = Callable[[str], None]


def steps(workers: list[Worker], folder: Path, effort: Effort, say: Say) -> dict[str, dict[str, Any]]:
    results = {}
    for what, (expected, title) in STEPS.items():
        say(title)
        path = folder / f"{what}.json"
        path.write_text(json.dumps({"what": what}), encoding="utf-8")
        results[what] = measure(workers, path, expected, effort)
    return results


def memory(quick: bool, say: Say) -> dict[str, dict[str, Any]]:
    """Bytes of waiting runs, each number of them in a process of its own."""
    results: dict[str, dict[str, Any]] = {}
    for contender in CONTENDERS:
        for runs in contender.runs:
            if quick and runs > 10_000:
                runs = 10_000
            say(f"memory of {runs:,} waiting runs: {contender.name}")
            worker = Worker(contender, {})
            answer = worker.ask({"do": "memory", "runs": runs}, MEMORY_PATIENCE)
            worker.close()
            if answer is not None and "bytes" in answer:
                counts = results.setdefault(contender.name, {})
                # The first run brings what all share.
                first = counts.get("1", answer)["bytes"]
                each = (answer["bytes"] - first) / max(runs - 1, 1)
                counts[str(runs)] = {"bytes": answer["bytes"], "bytes_a_run": each, "texts_a_run": answer.get("texts")}
    return results


def cold_starts(case: Path, times: int, say: Say) -> dict[str, dict[str, float]]:
    """From the first line of a program to its first decision, in fresh processes, taken in turns."""
    samples: dict[str, list[tuple[float, float]]] = {}
    for time in range(times):
        say(f"cold starts, {time + 1} of {times}")
        for contender in CONTENDERS:
            if contender.has_cold_start:
                samples.setdefault(contender.name, []).append(cold_start(contender, str(case)))
    return {
        name: {
            "best_ns": min(inside for inside, _ in taken),
            "median_ns": statistics.median(inside for inside, _ in taken),
            "process_best_ns": min(whole for _, whole in taken),
        }
        for name, taken in samples.items()
    }


def sizes() -> dict[str, Any]:
    """Bytes of the packages, and of what a browser downloads."""
    bindings = ROOT / "bindings-wasm"
    told = subprocess.run(["node", "scripts/sizes.mjs", "--json"], cwd=bindings, check=True, capture_output=True)
    pack = ["npm", "pack", "--dry-run", "--json", "--ignore-scripts"]
    packed = json.loads(subprocess.run(pack, cwd=bindings, check=True, capture_output=True).stdout)
    # npm has answered with a list of packages, and with an object of them.
    [package] = packed.values() if isinstance(packed, dict) else packed
    [wheel] = (BUILT / "wheels").glob("*.whl")
    return {
        "browser": json.loads(told.stdout),
        "wheel": wheel.stat().st_size,
        "npm": package["size"],
        "npm_unpacked": package["unpackedSize"],
    }
