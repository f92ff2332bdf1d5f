"""Turns per second, recovery and cost of the hosts, side by side: read the ratios, not the times.

usage: python bindings-python/bench/hosts [RUNS]     with `turnlatch[dbos]` and PostgreSQL; `make bench-hosts` does it

Every turn is a real process, every database keeps what was committed (fsync is on), and what is killed is killed with
SIGKILL.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from cost import Cost, of_postgres, of_sqlite  # noqa: E402
from one_host import DATABASE  # noqa: E402

from hosts.agents import turns  # noqa: E402
from hosts.postgres import Postgres  # noqa: E402

ROUNDS = 3
SLOTS = 8
HELD = 4
POLL_SEC = 0.1
HOSTS = {
    "embedded, SQLite": ("embedded", 0),
    "DBOS, SQLite": ("dbos", 0),
    "DBOS, PostgreSQL": ("dbos", 1),
    "DBOS, PostgreSQL, 3 workers": ("dbos", 3),
}


class Host:
    """A process with a host."""

    def __init__(self, scene: str, **config: Any) -> None:
        self.began = time.monotonic()
        given = {"scene": scene, "slots": SLOTS, "poll_sec": POLL_SEC, "worker": "w1", "held": HELD, **config}
        self._process = subprocess.Popen(
            [sys.executable, HERE / "one_host.py", json.dumps(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
            text=True,
        )

    def opened(self) -> float:
        """Waits until it is open. The seconds since it was started."""
        assert self._line() == "open\n"
        return time.monotonic() - self.began

    def result(self) -> dict[str, float]:
        """Waits until its scene is over."""
        return dict(json.loads(self._line()))

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def close(self) -> None:
        self._process.communicate("", timeout=60)

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


class Bench:
    """One database server for all, a new database and folder for each scene."""

    def __init__(self, postgres: Postgres, runs: int) -> None:
        self._postgres = postgres
        self._runs = runs
        self.figures: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in HOSTS}
        self.costs: dict[str, Cost] = {}

    def work(self, name: str) -> None:
        """Turns per second, and what the runs leave behind."""
        with self._place(name) as place, ExitStack() as stack:
            others = [Host("stand_by", **place, worker=f"w{n}") for n in range(HOSTS[name][1])]
            for other in others:
                stack.callback(other.close)
                other.opened()
            if "url" in place:
                stack.enter_context(self._costs_of(name, place["url"]))
            kind = "client" if others else place["kind"]
            host = Host("work", **{**place, "kind": kind}, runs=self._runs)
            host.opened()
            self._note(name, host.result())
            host.close()
            if "url" not in place:
                self.costs[name] = of_sqlite(Path(place["folder"]) / DATABASE[kind], self._runs)

    def enqueue(self, name: str) -> None:
        """Clients make runs, each by one transaction, while nobody works."""
        with self._place(name) as place:
            clients = [
                Host("enqueue", **{**place, "kind": "client"}, runs=self._runs, worker=f"c{n}") for n in range(3)
            ]
            for client in clients:
                client.opened()
            results = [client.result() for client in clients]
            self._note(name, {"runs made per second": sum(result["runs made per second"] for result in results)})
            for client in clients:
                client.close()

    def restart(self, name: str) -> None:
        """A host is killed with waiting runs and with turns under way, and started again."""
        with self._place(name) as place:
            first = Host("leave", **place, runs=self._runs)
            first.opened()
            first.result()
            self._until_begun(place, HELD)
            first.kill()
            second = Host("go_on", **place)
            self._note(name, {"restart to open": second.opened(), **second.result()})
            self._until_begun(place, 2 * HELD)
            self._note(name, {"restart to lost turns begun again": time.monotonic() - second.began})
            second.kill()

    def takeover(self, name: str) -> None:
        """A worker is killed in the middle of turns while others live."""
        with self._place(name) as place:
            first = Host("leave", **place, runs=0)
            first.opened()
            first.result()
            self._until_begun(place, HELD)
            others = [Host("stand_by", **place, worker=f"w{n}") for n in (2, 3)]
            for other in others:
                other.opened()
            first.kill()
            killed = time.monotonic()
            self._until_begun(place, 2 * HELD)
            self._note(name, {"death to lost turns begun by another": time.monotonic() - killed})
            for other in others:
                other.kill()

    @contextmanager
    def _place(self, name: str) -> Iterator[dict[str, Any]]:
        kind, workers = HOSTS[name]
        with tempfile.TemporaryDirectory(prefix="turnlatch-bench-", ignore_cleanup_errors=True) as folder:
            yield {"kind": kind, "folder": folder, **({"url": self._postgres.database()} if workers else {})}

    @contextmanager
    def _costs_of(self, name: str, url: str) -> Iterator[None]:
        with of_postgres(url, self._runs) as cost:
            yield
        self.costs[name] = cost

    def _until_begun(self, place: dict[str, Any], count: int) -> None:
        """Waits until the agents that hold have begun so many turns, together."""
        folder = Path(place["folder"])
        while sum(what == "start" and slot.startswith("hold-") for what, slot, _ in turns(folder)) < count:
            time.sleep(0.01)

    def _note(self, name: str, figures: dict[str, float]) -> None:
        for figure, value in figures.items():
            self.figures[name][figure].append(value)

    def print(self) -> None:
        """Medians, with the ratio to the embedded host, and all rounds behind them."""
        base = self.figures["embedded, SQLite"]
        for figure in dict.fromkeys(figure for figures in self.figures.values() for figure in figures):
            print(f"\n{figure}")
            for name, figures in self.figures.items():
                if values := figures.get(figure):
                    median = statistics.median(values)
                    ratio = f"{median / statistics.median(base[figure]):6.2f} x" if figure in base else " " * 8
                    rounds = ", ".join(f"{value:.2f}" for value in values)
                    print(f"  {name:30} {median:9.2f}  {ratio}   ({rounds})")
        print(
            "\ncost of a run of two turns: rows, bytes, bytes of the log, transactions; and of idle workers, a second"
        )
        for name, cost in self.costs.items():
            log = "-" if cost.wal_bytes is None else f"{cost.wal_bytes:.0f}"
            commits = "-" if cost.transactions is None else f"{cost.transactions:.1f}"
            idle = "-" if cost.idle_transactions is None else f"{cost.idle_transactions:.1f}"
            print(f"  {name:30} {cost.all_rows:6.1f} {cost.bytes:9.0f} {log:>9} {commits:>6} {idle:>6}")
            print("    " + ", ".join(f"{table} {count:.0f}" for table, count in sorted(cost.rows.items())))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    print(f"{runs} runs, {SLOTS} slots; {machine}")
    postgres = Postgres(durable=True)
    try:
        bench = Bench(postgres, runs)
        for number in range(ROUNDS):
            for name, (_, workers) in HOSTS.items():
                print(f"round {number + 1} of {ROUNDS}: {name}", file=sys.stderr)
                bench.work(name)
                if workers < 2:
                    bench.restart(name)
                else:
                    bench.enqueue(name)
                    bench.takeover(name)
        bench.print()
    finally:
        postgres.close()


if __name__ == "__main__":
    main()
