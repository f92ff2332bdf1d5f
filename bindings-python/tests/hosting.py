"""What the host tests share."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from turnlatch import Plan, Skill, admit, types

SCHEMA = {"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}}}
DONE = '{"file": "b.txt", "__SKILL_DONE__": true}'
STICKY = {"kind": "sticky_process"}


def plan(run_id: str = "r1", limits: types.Limits | None = None, **options: Any) -> Plan:
    skill = Skill({"execution_modes": ["auto", "interactive"]}, output_schema=SCHEMA)
    request: Any = {"run_id": run_id, "engine": "test", "execution_mode": "interactive", **options}
    return admit(skill, request, engines=["test"], limits=limits)


async def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.005)


def processes_marked(mark: str) -> list[str]:
    """The living processes whose environment contains the mark."""
    return [f"{pid} {line}" for pid, line in _environments(mark)]


def _environments(mark: str) -> Iterator[tuple[int, str]]:
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as environ, open(f"/proc/{name}/cmdline", "rb") as cmdline:
                    if mark.encode() in environ.read():
                        yield int(name), cmdline.read().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
