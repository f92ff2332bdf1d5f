"""What a host still has of an earlier life, and giving back what no run keeps (HOST-9)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

from ._host import Host, call
from .run import Run, run_of_slot


@dataclass
class Belongings:
    """Processes and slots by the slot's id, alarms by run and question."""

    processes: set[str]
    slots: set[str]
    timers: set[tuple[str, int]]

    @classmethod
    async def of(cls, host: Host) -> Belongings:
        """Everything there is. Read it before the runs: what comes later belongs to a run that is known by then."""
        return cls(
            set(await call(host.processes.alive)),
            set(await call(host.slots.held)),
            set(await call(host.timers.pending)),
        )

    def only_of(self, run_id: str) -> Belongings:
        """What of it is of this run."""
        return Belongings(
            {slot_id for slot_id in self.processes if run_of_slot(slot_id) == run_id},
            {slot_id for slot_id in self.slots if run_of_slot(slot_id) == run_id},
            {timer for timer in self.timers if timer[0] == run_id},
        )

    def leave_to(self, run: Run) -> None:
        """Takes out what the run may keep."""
        keep = run.outstanding()["keep"]
        self.processes.discard(keep.get("process", ""))
        self.slots.discard(keep.get("slot_id", ""))
        self.timers.discard((run.run_id, keep.get("timer", 0)))

    async def give_back(self, host: Host, unread: Collection[str]) -> None:
        """Ends and gives back what is left. A run that could not be read may still want what it has."""
        for slot_id in self.processes | self.slots:
            run_id = run_of_slot(slot_id) or ""
            # The slot of a process that does not end is kept.
            if run_id not in unread and (
                slot_id not in self.processes or await host.attempt(run_id, partial(host.processes.terminate, slot_id))
            ):
                await host.attempt(run_id, partial(host.slots.release, slot_id))
        for run_id, interaction_id in self.timers:
            if run_id not in unread:
                await host.attempt(run_id, partial(host.timers.cancel, run_id, interaction_id))


async def hold_slots(host: Host, runs: Iterable[Run]) -> set[str]:
    """Holds the slots again that runs held before. The ids of the runs whose slot somebody else has by now."""
    lost: set[str] = set()
    for run in runs:
        held = run.outstanding()["keep"].get("process")
        if held is None:
            continue

        async def hold(run_id: str, slot_id: str) -> None:
            if not await call(host.slots.hold, run_id, slot_id):
                lost.add(run_id)

        await host.attempt(run.run_id, partial(hold, run.run_id, held))
    return lost
