#!/usr/bin/env python3
"""Counts the instructions of work of growing size: linear in texts, flat in histories and in the number of runs.

usage: growth.py PROGRAM     PROGRAM is target/debug/growth

Instructions are counted by valgrind's callgrind, so the machine may be as busy as it likes. What is counted is told by
tests/rust/src/bin/growth.rs, which also says what is done.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = "growth::measured_work"
# Allocators and tables have thresholds, so that four times the text is rarely exactly four times the work; a search in
# a sorted list takes a few steps more in a long one. Quadratic work would be 16 times as much, and work that is linear
# in the history 40 times.
MOST = {"text": 1.15, "history": 1.3, "runs": 1.3}


def main() -> int:
    counts: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for (kind, name, size), instructions in counted(sys.argv[1]):
        counts.setdefault((kind, name), []).append((size, instructions))
    broken = []
    print(f"{'':8} {'':40} {'size':>16} {'instructions':>24} {'growth':>8}")
    for (kind, name), [(small, few), (large, many)] in counts.items():
        # For a text beside that of its size, for the rest beside what it was.
        growth = many / few / (large / small if kind == "text" else 1)
        print(f"{kind:8} {name:40} {small:>7} {large:>8} {few:>12,} {many:>11,} {growth:>8.2f}")
        if growth > MOST[kind]:
            broken.append(name)
    if broken or not counts:
        print(f"grows faster than it should: {', '.join(broken) or 'nothing was counted'}", file=sys.stderr)
        return 1
    gates = ROOT / "target" / "gates"
    gates.mkdir(parents=True, exist_ok=True)
    told = {f"kinds of {kind}": sum(one == kind for one, _ in counts) for kind in MOST}
    (gates / "growth.json").write_text(json.dumps({"counts": told}), encoding="utf-8")
    return 0


def counted(program: str) -> list[tuple[tuple[str, str, int], int]]:
    """Every piece of work that the program told, and how many instructions it took."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        command += [f"--toggle-collect={WORK}", f"--dump-before={WORK}", program]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        # Each piece of work stands in the dump before the next, the last in that at the end, which has no number.
        dumps = sorted(pathlib.Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        dumps = [*dumps[1:], pathlib.Path(folder, "out")]
        instructions = [int(re.findall(r"^(?:summary|totals): (\d+)", dump.read_text(), re.M)[0]) for dump in dumps]
    if len(told) != len(instructions):
        raise SystemExit(f"{len(told)} pieces of work were told, and {len(instructions)} counted")
    work = [line.split("\t") for line in told]
    pieces = [((kind, name, int(size)), count) for (kind, name, size), count in zip(work, instructions, strict=True)]
    return [piece for piece in pieces if piece[0][0] != "nothing"]


if __name__ == "__main__":
    sys.exit(main())
