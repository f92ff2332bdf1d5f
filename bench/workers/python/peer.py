"""What all peers in Python are measured by; each brings a class of runs with ``create``, ``slot_granted``,
``turn_finished`` and ``reply``."""

from __future__ import annotations

from typing import Any

from skill import DONE, QUESTION, decision
from timing import Prepared, at_once, fresh, memory_of, repeated, timed


class Peer:
    def __init__(self, runs: Any) -> None:
        self.runs = runs

    def prepare(self, case: dict) -> Prepared | None:
        if case["what"] == "turn":
            return self.turn(case)
        if case["what"] == "lifecycle":
            return repeated(self.lifecycle, lambda run: run.status)
        return self.saved(case["what"]) if hasattr(self.runs, "to_json") else None

    def saved(self, what: str) -> Prepared | None:
        run = self.waiting_run()
        if what == "snapshot":
            return repeated(run.to_json, len)
        if what == "restore":
            text = run.to_json()
            return repeated(lambda: self.runs.from_json(text), lambda restored: restored.status)
        return None

    def memory_of(self, runs: int) -> int:
        return memory_of(runs, lambda _: self.waiting_run())

    def turn(self, case: dict) -> Prepared:
        content, is_stream = case["text"].encode(), case["is_stream"]
        run = self.running_run()
        run.turn_finished(fresh(content), is_stream)

        def batch(calls: int) -> int:
            prepare = lambda: (self.running_run(), fresh(content), is_stream)  # noqa: E731
            return timed(calls, at_once(len(content)), prepare, lambda run, *turn: run.turn_finished(*turn))

        return Prepared(decision(run.status, run.output), batch)

    def lifecycle(self) -> Any:
        run = self.running_run()
        run.turn_finished("Which one?", False)
        run.reply("this one")
        run.slot_granted()
        run.turn_finished(DONE, False)
        return run

    def running_run(self) -> Any:
        run = self.runs.create()
        run.slot_granted()
        return run

    def waiting_run(self) -> Any:
        run = self.running_run()
        # Each run has words of its own, as in life.
        run.turn_finished(fresh(QUESTION.encode()), False)
        return run
