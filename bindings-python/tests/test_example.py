"""The example is run as a user would run it, in both ways."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "python" / "interactive.py"


@pytest.mark.parametrize("options", [[], ["--sticky"]])
def test_the_example_asks_is_answered_and_finishes(options: list[str]) -> None:
    result = subprocess.run([sys.executable, EXAMPLE, *options], capture_output=True, text=True, timeout=60, check=True)
    told = ["r1 is queued", "r1 is running", "r1 is waiting_user", "agent asks: Which file?", "receipt: accepted"]
    told += ["r1 is succeeded", "result: {'file': 'b.txt'}  because GATE-3"]
    for line in told:
        assert line in result.stdout, result.stdout
