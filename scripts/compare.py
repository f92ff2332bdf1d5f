#!/usr/bin/env python3
"""Runs every vector in Rust, Python, Node and Chromium and compares what they print, byte for byte.

Each runtime prints one line per vector: the canonical JSON of what it answered, behind the file it stands in.
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WASM = ROOT / "bindings-wasm"
RUNTIMES = {
    "Rust": (["cargo", "run", "--quiet", "--locked", "--package", "turnlatch-tests", "--example", "results"], ROOT),
    "Python": ([sys.executable, str(ROOT / "scripts" / "vector_results.py")], ROOT),
    "Node": (["node", "scripts/results.mjs", "node"], WASM),
    "Chromium": (["node", "scripts/results.mjs", "chromium"], WASM),
}


def main() -> int:
    printed = {name: lines_of(*where) for name, where in RUNTIMES.items()}
    reference = printed["Rust"]
    capabilities = sorted({path.split("/")[0] for path in reference})
    widths = [max(map(len, capabilities)), *map(len, RUNTIMES)]
    print("  ".join(name.ljust(max(width, 9)) for name, width in zip(["capability", *RUNTIMES], widths, strict=True)))
    different: list[str] = []
    for capability in capabilities:
        cells = [capability.ljust(widths[0])]
        for name in RUNTIMES:
            same = total = 0
            for path in (path for path in reference if path.split("/")[0] == capability):
                found = printed[name].get(path, [])
                total += max(len(reference[path]), len(found))
                same += sum(left == right for left, right in zip(reference[path], found, strict=False))
                if found != reference[path]:
                    different.append(f"{name}: {path}\n{first_difference(reference[path], found)}")
            cells.append(f"{same}/{total}".ljust(9))
        print("  ".join(cells))
    unknown = [f"{name}: {path}" for name in RUNTIMES for path in printed[name] if path not in reference]
    total = sum(map(len, reference.values()))
    if different or unknown or total == 0:
        print("\n".join(["", *different, *unknown]))
        return 1
    print(f"{total} vectors gave the same bytes in {', '.join(RUNTIMES)}")
    return 0


def lines_of(command: list[str], folder: Path) -> dict[str, list[str]]:
    """What a runtime printed, by file."""
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8")
    files: defaultdict[str, list[str]] = defaultdict(list)
    for line in done.stdout.split("\n"):
        if line:
            path, result = line.split("\t", 1)
            files[path].append(result)
    return dict(files)


def first_difference(expected: list[str], found: list[str]) -> str:
    for left, right in zip(expected, found, strict=False):
        if left != right:
            return f"  Rust  {left[:600]}\n  here  {right[:600]}"
    return f"  {len(expected)} vectors in Rust, {len(found)} here"


if __name__ == "__main__":
    sys.exit(main())
