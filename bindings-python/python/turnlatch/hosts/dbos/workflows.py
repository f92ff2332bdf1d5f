"""The two workflows of DBOS: a turn on the queue of slots, and a timer that is delayed to its deadline.

DBOS is one for a process, and finds workflows by name in any process. So they are registered here, once, and hand
over to the worker that this process has opened.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, EnqueueOptions

from ...types import Effect

APPLICATION = "turnlatch"
TURNS = "turns"
TIMERS = "timers"
_TURN = "turnlatch.turn"
_TIMER = "turnlatch.timer"
_TIMERS_AT_A_TIME = 8


@dataclass(frozen=True, slots=True)
class SlotUse:
    """How many slots all workers have together (0 before the first has come), which are held, how many are wanted."""

    total: int
    held: list[str]
    waiting: int


class Worker(Protocol):
    """What carries workflows out. Both methods are called on threads of DBOS and return at the workflow's end."""

    def turn(self, run_id: str, slot_id: str) -> None:
        """Carries out the turn, or the sticky run, of a slot."""
        ...

    def timer(self, run_id: str, interaction_id: int, at: int) -> None:
        """Tells the run that its time has come."""
        ...


worker: Worker | None = None


# Taking over a workflow is no sign of a fault in it, so there is no limit to how often that may happen.
@DBOS.workflow(name=_TURN, max_recovery_attempts=None)
def _turn(run_id: str, slot_id: str) -> None:
    _the_worker().turn(run_id, slot_id)


@DBOS.workflow(name=_TIMER, max_recovery_attempts=None)
def _timer(run_id: str, interaction_id: int, at: int) -> None:
    _the_worker().timer(run_id, interaction_id, at)


def _the_worker() -> Worker:
    assert worker is not None, "workflows are only taken from the queue while a worker is open"
    return worker


class Enqueuer:
    """Puts workflows into the queues, in the transaction that decided on them."""

    def __init__(self, client: DBOSClient, application_version: str) -> None:
        self._client = client
        self._version = application_version

    def make_queues(self, slots: int, poll_sec: float) -> None:
        """Makes the queues, or gives them these limits. Before the launch, which looks for queues once a second."""
        client, interval = self._client, poll_sec / 2
        client.register_queue(
            TURNS, global_concurrency=slots, polling_interval_sec=interval, on_conflict="always_update"
        )
        client.register_queue(
            TIMERS, worker_concurrency=_TIMERS_AT_A_TIME, polling_interval_sec=interval, on_conflict="always_update"
        )

    def slots(self) -> int:
        """The limit of the queue of turns; 0 if no worker has made it yet."""
        queue = self._client.retrieve_queue(TURNS)
        return (queue.global_concurrency or 0) if queue is not None else 0

    def enqueue(self, db: sa.Connection, run_id: str, effect: Effect, now: int) -> None:
        """Enqueues what an effect asks for, if it is one for a queue."""
        if effect["type"] == "acquire_slot":
            options = self._options(_TURN, TURNS, effect["slot_id"])
            self._client.enqueue_in_transaction(db, options, run_id, effect["slot_id"])
        elif effect["type"] == "set_timer":
            question, at = effect["interaction_id"], effect["at"]
            options = self._options(_TIMER, TIMERS, f"{_timers_of(run_id, question)}{at}")
            if at > now:
                options["delay_seconds"] = (at - now) / 1000
            # Set twice for the same deadline, it is the same workflow: the first one is still on its way.
            self._client.enqueue_in_transaction(db, options, run_id, question, at)

    def withdraw(self, run_id: str, effects: Collection[Effect]) -> None:
        """Cancels what is not wanted any more. Nothing depends on it: the core absorbs whatever comes late."""
        ids = [effect["slot_id"] for effect in effects if effect["type"] == "release_slot"]
        for effect in effects:
            if effect["type"] == "cancel_timer":
                prefix = _timers_of(run_id, effect["interaction_id"])
                found = self._client.list_workflows(workflow_id_prefix=prefix, status="DELAYED", load_input=False)
                ids += [workflow.workflow_id for workflow in found]
        if ids:
            self._client.cancel_workflows(ids)

    def pending(self, executor_id: str | None = None) -> list[tuple[str, str, str]]:
        """The workflows under way, of one worker or of all: id, queue and worker."""
        found = self._client.list_workflows(
            status="PENDING",
            executor_id=executor_id,
            app_version=self._version,
            queue_name=[TURNS, TIMERS],
            load_input=False,
            load_output=False,
        )
        return [(one.workflow_id, one.queue_name or TURNS, one.executor_id or "") for one in found]

    def carrier(self, workflow_id: str) -> str | None:
        """The worker that carries out the workflow; ``None`` if nobody does."""
        found = self._client.list_workflows(workflow_ids=[workflow_id], status="PENDING", load_input=False)
        return found[0].executor_id if found else None

    def active(self, workflow_ids: list[str]) -> set[str]:
        """Those of the workflows that are carried out, or wait for a worker."""
        if not workflow_ids:
            return set()
        statuses = ["PENDING", "ENQUEUED", "DELAYED"]
        found = self._client.list_workflows(
            workflow_ids=workflow_ids, status=statuses, load_input=False, load_output=False
        )
        return {one.workflow_id for one in found}

    def hand_over(self, executor_id: str) -> int:
        """Puts the workflows of a worker that does not carry them out any more back into their queues."""
        pending = self.pending(executor_id)
        for queue in (TURNS, TIMERS):
            ids = [workflow_id for workflow_id, queue_name, _ in pending if queue_name == queue]
            if ids:
                self._client.resume_workflows(ids, queue_name=queue)
        return len(pending)

    def close(self) -> None:
        """Ends the client."""
        with contextlib.suppress(Exception):
            self._client.destroy()

    def _options(self, workflow: str, queue: str, workflow_id: str) -> EnqueueOptions:
        return {
            "workflow_name": workflow,
            "queue_name": queue,
            "workflow_id": workflow_id,
            "app_version": self._version,
        }


def _timers_of(run_id: str, interaction_id: int) -> str:
    # No run's id has a slash in it, so this is no beginning of another run's.
    return f"{run_id}/i{interaction_id}/"
