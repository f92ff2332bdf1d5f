"""The Python of the READMEs runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from turnlatch import Run
from vectors_runner import ROOT

PACKAGE = Path(__file__).resolve().parents[1] / "README.md"


def blocks(page: Path) -> list[tuple[int, str]]:
    """The blocks tagged python, each with the line it begins on."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, block.start(1)) + 1, block[1]) for block in found]


# What needs an extra of the package is run where there is one, by tests/hosts.
CASES = [
    pytest.param(page, line, code, id=f"{page.parent.name}/README.md:{line}")
    for page in (PACKAGE, ROOT / "README.md")
    for line, code in blocks(page)
    if "turnlatch.hosts" not in code
]


@pytest.mark.parametrize(("page", "line", "code"), CASES)
def test_the_block_runs(page: Path, line: int, code: str) -> None:
    # Empty lines before it, so that a traceback names the line of the page.
    exec(compile("\n" * (line - 1) + code, str(page), "exec"), {"__name__": "readme"})


def test_the_loop_of_the_readme_knows_every_effect() -> None:
    (code,) = [code for _, code in blocks(PACKAGE) if "def perform(run: Run" in code]
    types_source = (Path(__file__).resolve().parents[1] / "python" / "turnlatch" / "types.py").read_text()
    effects = types_source.split("Event: TypeAlias")[1].split("Effect: TypeAlias")[0]
    names = re.findall(r'type: Literal\["(\w+)"\]', effects)
    assert len(names) == 8
    assert [name for name in names if f'"{name}"' not in code] == []


def test_the_quick_start_ends_with_a_finished_run() -> None:
    space: dict[str, Any] = {}
    exec(blocks(PACKAGE)[0][1], space)
    run = space["run"]
    assert isinstance(run, Run) and run.status == "succeeded"
    assert space["created"].effects[0]["slot_id"] == "r1/s1"
    assert run.explain()["reason"] == "GATE-3: the run is complete"
