"""Fills the tables of ``docs/performance.md`` from results: what stands between its markers is replaced.

usage: python3 bench/page.py [RESULTS]
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import plot
import tables
from contenders import BUILT, ROOT

PAGE = ROOT / "docs/performance.md"
PLOT = ROOT / "docs/performance.svg"


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILT / "results.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    if not results["full"]:
        raise SystemExit("these are the results of a try; the page is for those of a full run")
    write(results)


def write(results: dict[str, Any]) -> None:
    parts = {
        "machine": machine(results),
        "targets": tables.as_markdown(tables.targets(results)),
        "faster": faster(results),
        "turns": tables.as_markdown(tables.turns(results)),
        "steps": tables.as_markdown(tables.steps(results)),
        "memory": tables.as_markdown(tables.memory(results)),
        "cold": tables.as_markdown(tables.cold_starts(results)),
        "sizes": tables.as_markdown(tables.sizes(results)),
    }
    text = PAGE.read_text(encoding="utf-8")
    for name, content in parts.items():
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if not between.search(text):
            raise SystemExit(f"{PAGE.name} has no place for {name}")
        text = between.sub(lambda found, content=content: f"{found[1]}{content}\n{found[2]}", text)
    PAGE.write_text(text, encoding="utf-8")
    PLOT.write_text(plot.svg(results), encoding="utf-8")


def machine(results: dict[str, Any]) -> str:
    where = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    return (
        f"Measured {where['date']} at commit {where['commit']} on {where['cores']} cores of {where['cpu']} with "
        f"{where['memory_gb']} GB, {where['system']}, with a load of {where['load']} before it began. {versions}."
    )


def faster(results: dict[str, Any]) -> str:
    table = tables.faster_peers(results)
    return tables.as_markdown(table) if len(table) > 1 else "Nowhere in this run."


if __name__ == "__main__":
    main()
