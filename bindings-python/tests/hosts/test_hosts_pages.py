"""The Python of the pages about hosts runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_readme import PACKAGE, blocks
from vectors_runner import ROOT


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ((_, code),) = blocks(ROOT / "docs" / "hosts.md")
    exec(compile(code, "hosts.md", "exec"), {"__name__": "page"})


def test_the_example_of_the_package_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = [code for _, code in blocks(PACKAGE)]
    (number,) = [number for number, code in enumerate(found) if "turnlatch.hosts" in code]
    space = {"__name__": "readme"}
    # It goes on from the example before it.
    for code in found[number - 1 : number + 1]:
        exec(compile(code, "README.md", "exec"), space)
