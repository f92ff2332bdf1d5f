"""A worker as a process of its own, until its input ends: ``python -m hosts.worker CONFIG``."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from turnlatch import Run, SubprocessRunner
from turnlatch.hosts.dbos import DbosDriver
from turnlatch.parts import Finished
from turnlatch.types import StartTurn

from .agents import Agents


class Dying(SubprocessRunner):
    """Dies between a transaction and its effect: at ``granted``, or at ``begun``, when the turn is noted as begun.

    Runs that are ``stuck`` come no further than ``begun``, or than ``finished``, when the end of the turn is saved and
    its slot not yet given back.
    """

    dies = ""
    stuck: Mapping[str, str] = {}

    async def alive(self) -> Collection[str]:
        self.die_at("granted")
        return await super().alive()

    async def start(self, run: Run, effect: StartTurn, finished: Finished) -> None:
        self.die_at("begun")
        await self.stick_at("begun", run.run_id)
        await super().start(run, effect, finished)

    async def terminate(self, slot_id: str) -> None:
        await self.stick_at("finished", slot_id.split("/")[0])
        await super().terminate(slot_id)

    def die_at(self, moment: str) -> None:
        if self.dies == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    async def stick_at(self, moment: str, run_id: str) -> None:
        if self.stuck.get(run_id) == moment:
            await asyncio.Event().wait()


async def main(config: dict[str, Any]) -> None:
    folder = Path(config.pop("folder"))
    processes = Dying(Agents(folder, config.pop("mark")), grace_sec=0.3)
    processes.dies, processes.stuck = config.pop("dies"), config.pop("stuck")
    async with DbosDriver(processes=processes, on_error=print_error, **config):
        print("open", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def print_error(*what: Any) -> None:
    print(*what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
