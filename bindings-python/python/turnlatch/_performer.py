"""Performs a run's effects one after the other; the core says which are still due and what becomes of failures."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import cast

from ._host import Host, call
from ._live import Live, Report
from .parts import is_out_of_resources
from .run import unreadable_report
from .types import Effect, RunEvent, TurnFinished, TurnReport

Post = Callable[[str, Report], None]


class Performer:
    """Calls the host's parts. What they report later goes to ``post``."""

    def __init__(self, host: Host, post: Post) -> None:
        self._host = host
        self._post = post

    async def perform_all(self, live: Live) -> None:
        """Performs what is to be performed; what fails too often is in ``live.owed`` afterwards."""
        while live.effects:
            effect = live.effects.popleft()
            if live.run.due(effect, live.owed)["perform"] == "later":
                live.owed.append(effect)
            else:
                await self._perform_with_retries(live, effect)

    def finished(self, run_id: str, attempt_number: int, slot_id: str) -> Callable[[TurnReport | None], None]:
        """What a process tells when its turn has ended."""
        unreadable = unreadable_report(attempt_number, slot_id)

        def finished(report: TurnReport | None) -> None:
            if report is None:
                lost: RunEvent = {"type": "process_lost", "attempt_number": attempt_number, "slot_id": slot_id}
                self._post(run_id, Report(lost))
                return
            event = unreadable
            # What cannot even be copied is no report; the turn must not run for ever because of it.
            with contextlib.suppress(Exception):
                told = {**report, "type": "turn_finished", "attempt_number": attempt_number, "slot_id": slot_id}
                event = cast("TurnFinished", told)
            self._post(run_id, Report(event, instead=unreadable))

        return finished

    async def _perform_with_retries(self, live: Live, effect: Effect) -> None:
        run_id, retry = live.run.run_id, self._host.retry
        begun = False
        attempt = failures = 0
        # Asked before each try: a cancel may have come meanwhile.
        while (due := live.run.due(effect))["perform"] == "now":
            # An earlier try may have begun the turn before it failed, and the turn may have ended: then it must not
            # begin again. So what was reported until now is taken first.
            if due["once"] and live.inbox:
                await (asyncio.sleep(0) if live.courier is None else asyncio.wait([live.courier]))
                continue
            attempt += 1
            scarce = False
            try:
                if due["once"] and not begun:
                    await call(self._host.store.mark_begun, run_id, effect["id"])
                    begun = True
                await self._perform(live, effect)
                return
            except Exception as error:
                scarce = is_out_of_resources(error)
                failures += not scarce
                await self._host.report(run_id, effect, error, attempt)
            if failures >= retry.attempts or (scarce and attempt >= retry.attempts):
                # Without resources nothing was begun, whatever the note says, and a turn is kept until there are some.
                self._give_up(live, effect, begun and not scarce)
                return
            await asyncio.sleep(retry.wait_after(attempt))

    def _give_up(self, live: Live, effect: Effect, begun: bool) -> None:
        verdict = live.run.given_up(effect, begun=begun)
        if verdict["then"] == "keep":
            live.owed.append(effect)
        elif verdict["then"] == "tell":
            self._post(live.run.run_id, Report(verdict["event"], ends=(effect, verdict["slot_id"])))

    async def _perform(self, live: Live, effect: Effect) -> None:
        run_id, host = live.run.run_id, self._host
        if effect["type"] == "acquire_slot":
            granted = Report({"type": "slot_granted", "slot_id": effect["slot_id"]})
            await call(host.slots.acquire, run_id, effect["slot_id"], partial(self._post, run_id, granted))
        elif effect["type"] == "release_slot":
            await call(host.slots.release, effect["slot_id"])
        elif effect["type"] == "set_timer":
            fired = Report({"type": "timer_fired", "interaction_id": effect["interaction_id"]})
            post = partial(self._post, run_id, fired)
            await call(host.timers.set, run_id, effect["interaction_id"], effect["at"], post)
        elif effect["type"] == "cancel_timer":
            await call(host.timers.cancel, run_id, effect["interaction_id"])
        elif effect["type"] == "terminate_process":
            await call(host.processes.terminate, effect["slot_id"])
        elif effect["type"] == "notify":
            if host.on_notify is not None:
                await call(host.on_notify, run_id, effect)
        else:
            finished = self.finished(run_id, effect["attempt_number"], effect["slot_id"])
            if effect["type"] == "start_turn":
                await call(host.processes.start, live.run.copy(), effect, finished)
            else:
                await call(host.processes.inject, live.run.copy(), effect, finished)
