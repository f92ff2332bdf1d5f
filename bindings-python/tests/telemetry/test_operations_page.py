"""The Python of the page about operations runs."""

from __future__ import annotations

from test_readme import blocks
from vectors_runner import ROOT


def test_the_example_of_the_page_runs() -> None:
    ((_, code),) = blocks(ROOT / "docs" / "operations.md")
    exec(compile(code, "operations.md", "exec"), {"__name__": "page"})
