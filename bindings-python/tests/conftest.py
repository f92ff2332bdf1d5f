"""Says with which seed the properties are tried: TURNLATCH_SEED=n repeats them."""

from __future__ import annotations

import os
import random

SEED = int(os.environ.setdefault("TURNLATCH_SEED", str(random.SystemRandom().getrandbits(32))))


def pytest_report_header() -> str:
    return f"properties: TURNLATCH_SEED={SEED}"


def pytest_terminal_summary(terminalreporter: object, exitstatus: int) -> None:
    if exitstatus:
        print(f"\nthe properties were tried with TURNLATCH_SEED={SEED}")
