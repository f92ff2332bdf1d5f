"""Everybody in turns, so that a busy machine troubles all alike, in batches that are short enough to be undisturbed now
and then; the best and the median of each."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from processes import Worker

# Longer than this for one turn is too late.
PATIENCE = 10.0
MOST_CALLS = 5_000
FEWEST_ROUNDS = 3
# Who needs this many seconds for fewer rounds than that is slow, and more of it would not say more.
SLOW = 1.0


@dataclass(frozen=True)
class Effort:
    """How long a batch is, how much time a contender gets for a case, and before that if it compiles on the way."""

    batch_ns: float
    seconds: float
    rounds: int
    warm_up: float


FULL = Effort(batch_ns=4e6, seconds=0.25, rounds=30, warm_up=0.3)
QUICK = Effort(batch_ns=3e6, seconds=0.15, rounds=8, warm_up=0.1)


@dataclass
class Entrant:
    worker: Worker
    decision: str
    calls: int = 1
    spent: float = 0.0
    samples: list[float] = field(default_factory=list)

    def run(self) -> float | None:
        """The nanoseconds of a call in one batch; None if that took too long."""
        began = time.monotonic()
        answer = self.worker.ask({"do": "run", "calls": self.calls}, PATIENCE * 3)
        self.spent += time.monotonic() - began
        return None if answer is None else answer["nanoseconds"] / self.calls

    def wants_more(self, effort: Effort) -> bool:
        if len(self.samples) < FEWEST_ROUNDS:
            return not self.samples or self.spent < SLOW
        return self.spent < effort.seconds and len(self.samples) < effort.rounds

    def result(self) -> dict[str, Any]:
        best, median = min(self.samples), statistics.median(self.samples)
        return {"best_ns": best, "median_ns": median, "samples": len(self.samples), "decision": self.decision}


def measure(workers: list[Worker], case: Path, expected: Any, effort: Effort) -> dict[str, dict[str, Any]]:
    """What each contender takes for a case; who cannot do it at all is left out."""
    entrants: list[Entrant] = []
    results: dict[str, dict[str, Any]] = {}
    for worker in workers:
        answer = worker.ask({"do": "prepare", "case": str(case)}, PATIENCE)
        if answer is None:
            results[worker.name] = {"decision": "too late"}
        elif "unsupported" not in answer:
            entrant = Entrant(worker, judged(answer["decision"], expected))
            if is_warm(entrant, effort):
                entrants.append(entrant)
            else:
                results[worker.name] = {"decision": "too late"}
    while any(entrant.wants_more(effort) for entrant in entrants):
        for entrant in [entrant for entrant in entrants if entrant.wants_more(effort)]:
            took = entrant.run()
            if took is None:
                entrants.remove(entrant)
                results[entrant.worker.name] = {"decision": "too late"}
            else:
                entrant.samples.append(took)
        # Nobody always comes behind the same one.
        entrants = [*entrants[1:], *entrants[:1]]
    return results | {entrant.worker.name: entrant.result() for entrant in entrants}


def is_warm(entrant: Entrant, effort: Effort) -> bool:
    """Lets a contender compile what it compiles, and finds how many calls a batch has. Not so if it is too slow."""
    for _ in range(3):
        took = entrant.run()
        if took is None:
            return False
        entrant.calls = min(max(int(effort.batch_ns / max(took, 1)), 1), MOST_CALLS)
        if entrant.spent > SLOW:
            entrant.samples.append(took)
            return True
        if took > effort.batch_ns:
            break
    while entrant.worker.contender.compiles_on_the_way and entrant.spent < effort.warm_up:
        if entrant.run() is None:
            return False
    entrant.spent = 0.0
    return True


def judged(decision: Any, expected: Any) -> str:
    if expected is None or decision is None:
        return "not asked"
    return "right" if decision == expected else "wrong"
