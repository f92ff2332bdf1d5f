"""What a gate of ``make test`` counted, left in ``target/gates`` for the table that ``scripts/gates.py`` prints."""

from __future__ import annotations

import json

from vectors_runner import ROOT


def report(gate: str, **counts: int) -> None:
    """Leaves what a gate counted in Python, once it has held: one that leaves nothing is taken for a failed one."""
    folder = ROOT / "target" / "gates"
    folder.mkdir(parents=True, exist_ok=True)
    told = {what.replace("_", " "): count for what, count in counts.items()}
    (folder / f"{gate}.python.json").write_text(json.dumps({"counts": told}), encoding="utf-8")
