"""Says with which seed the properties are tried: TURNLATCH_SEED=n repeats them; and which package is tested."""

from __future__ import annotations

import os
import random
import sysconfig
from pathlib import Path

import turnlatch

SEED = int(os.environ.setdefault("TURNLATCH_SEED", str(random.SystemRandom().getrandbits(32))))


# What is tested is what users get: the installed wheel, never the source tree.
assert Path(sysconfig.get_path("platlib")).resolve() in Path(turnlatch.__file__).resolve().parents, turnlatch.__file__


def pytest_report_header() -> str:
    return f"properties: TURNLATCH_SEED={SEED}"


def pytest_terminal_summary(terminalreporter: object, exitstatus: int) -> None:
    if exitstatus:
        print(f"\nthe properties were tried with TURNLATCH_SEED={SEED}")
