"""A worker that is stopped or cut off, at any moment, does not keep others waiting, and comes back by itself."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from hosting import plan
from turnlatch.hosts.dbos import DbosDriver
from turnlatch.hosts.dbos.database import Database

from .fleet import QUICK_TAKEOVER, TESTS, Fleet, until
from .postgres import Postgres
from .way import Way

HOLDS_THE_LOCK = b"INSERT INTO turnlatch_slots"  # said under the lock of the slots, in the transaction of a grant
IS_THE_LEASE = b"SET idle_session_timeout"
LISTENS = b"LISTEN turnlatch"
CUT_SEC = 120 if "TURNLATCH_LONG" in os.environ else 0
BACK_SEC = 30  # a worker tries again at once, and each try has 3 seconds


@pytest.fixture
def way(postgres: Postgres) -> Iterator[Way]:
    made = Way(postgres.port)
    yield made
    made.close()


async def all_succeed(client: DbosDriver, *run_ids: str) -> None:
    for run_id in run_ids:
        await client.start(plan(run_id))
    for run_id in run_ids:
        assert (await client.wait(run_id))["status"] == "succeeded"


@pytest.mark.parametrize("how", ["stopped", "cut off"])
def test_a_worker_is_lost_in_the_middle_of_a_grant(way: Way, fleet: Fleet, how: str) -> None:
    one = fleet.worker("w1", database_url=way.url(fleet.url), takeover_after_sec=QUICK_TAKEOVER)

    async def scenario(client: DbosDriver) -> None:
        lost = asyncio.Event()
        loop = asyncio.get_running_loop()

        def lose() -> None:
            if how == "stopped":
                one.send(signal.SIGSTOP)
            else:
                way.cut()
            loop.call_soon_threadsafe(lost.set)

        way.when(HOLDS_THE_LOCK, lose)
        await client.start(plan("done-1"))
        await lost.wait()
        await asyncio.to_thread(fleet.worker, "w2", takeover_after_sec=QUICK_TAKEOVER)
        # They need the lock that the lost one has, and the last one is what that one was about to begin.
        await all_succeed(client, *(f"done-{n}" for n in range(2, 8)))
        assert (await client.wait("done-1"))["status"] == "succeeded"
        assert fleet.started("done-1") == [1]

        one.send(signal.SIGCONT)
        way.mend()
        await until(lambda: fleet.is_present("w1"))
        await asyncio.to_thread(fleet.workers[1].close)
        await all_succeed(client, "done-8", "done-9")
        await until(lambda: fleet.held() == set())

    fleet.ask(scenario)


def test_a_worker_that_was_cut_off_for_long_is_back_at_once(way: Way, fleet: Fleet) -> None:
    fleet.worker("w1", database_url=way.url(fleet.url), takeover_after_sec=QUICK_TAKEOVER)

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("hold-1", interrupted_turn="retry"))
        await until(lambda: fleet.started("hold-1") == [1])
        agents = set(fleet.agents())
        await asyncio.to_thread(fleet.worker, "w2", takeover_after_sec=QUICK_TAKEOVER)
        way.cut()
        cut_at = time.monotonic()
        await until(lambda: fleet.started("hold-1") == [1, 1])  # the other one has taken over
        # Longer than any time after which a connection is given up: it has tried again and again to make another.
        arrivals = way.arrivals
        await until(lambda: way.arrivals >= arrivals + 3 and time.monotonic() - cut_at >= CUT_SEC)
        assert not fleet.is_present("w1")
        way.mend()
        await asyncio.wait_for(until(lambda: fleet.is_present("w1")), BACK_SEC)
        await until(lambda: not agents & set(fleet.agents()))  # it has ended those that are not its own any more
        fleet.let_go("hold-1")
        await client.wait("hold-1", "waiting_user")
        await client.settled("hold-1")
        await asyncio.to_thread(fleet.workers[1].close)
        await all_succeed(client, "done-1")
        await until(lambda: fleet.held() == set())

    fleet.ask(scenario)


def test_a_lease_without_answers_is_renewed_on_another_connection(way: Way, fleet: Fleet) -> None:
    fleet.worker("w1", database_url=way.url(fleet.url), takeover_after_sec=QUICK_TAKEOVER)

    async def scenario(client: DbosDriver) -> None:
        assert way.lose(IS_THE_LEASE) == 1
        await until(lambda: not fleet.is_present("w1"))
        await until(lambda: fleet.is_present("w1"))
        await all_succeed(client, "done-1")

    fleet.ask(scenario)


def test_a_listener_that_hears_nothing_listens_anew(way: Way, fleet: Fleet) -> None:
    async def scenario(client: DbosDriver) -> None:
        async with DbosDriver(works=False, database_url=way.url(fleet.url)) as deaf:
            changes = deaf.changes()
            heard = asyncio.ensure_future(anext(changes))
            for number in itertools.count():  # until it listens
                if heard.done():
                    break
                await client.start(plan(f"ask-{number}"))
                await asyncio.sleep(0.1)
            assert way.lose(LISTENS) == 1
            await client.start(plan("ask-unheard"))
            async for run_id in changes:
                if run_id is None:
                    break  # any run may have changed meanwhile
            await client.start(plan("ask-heard"))
            async for run_id in changes:
                if run_id == "ask-heard":
                    break

    fleet.ask(scenario)


def test_connections_whose_packets_are_dropped_are_given_up(tmp_path: Path) -> None:
    """The lease, the listener and the pool of a worker; and it is back when packets pass again."""
    namespace = ["unshare", "--net"]
    missing = None if shutil.which("ip") and shutil.which("unshare") else "iproute2 and util-linux are needed"
    if missing is None:
        tried = [*namespace, "ip", "link", "add", "here", "type", "veth", "peer", "name", "there"]
        missing = subprocess.run(tried, capture_output=True, text=True).stderr.strip()
    if missing:
        # CI may make network namespaces. A test that is left out there would not be missed.
        assert "CI" not in os.environ, missing
        pytest.skip(f"no network namespace can be made: {missing}")
    script = [*namespace, sys.executable, "-m", "hosts.dropped_packets", str(tmp_path)]
    ended = subprocess.run(script, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(TESTS)})
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_settings_of_every_connection(fleet: Fleet) -> None:
    async def scenario(client: DbosDriver) -> None:
        def settings(db: sa.Connection) -> list[str]:
            names = ("application_name", "idle_in_transaction_session_timeout", "tcp_user_timeout")
            return [str(db.exec_driver_sql(f"SHOW {name}").scalar()) for name in names]

        assert await client.read(settings) == ["turnlatch client", "5s", "15000"]
        assert await client.read(lambda db: options(fileno(db))) == {"user_timeout": 15_000, "keepalive": 1, "idle": 5}

    def fileno(db: sa.Connection) -> int:
        return int(db.connection.driver_connection.fileno())  # type: ignore[union-attr]

    def options(descriptor: int) -> dict[str, int]:
        with socket.socket(fileno=os.dup(descriptor)) as same:
            return {
                "user_timeout": same.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT),
                "keepalive": same.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
                "idle": same.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
            }

    fleet.ask(scenario)
    with Database(fleet.url, "turnlatch w1").connect_alone(5.0) as alone:
        assert options(alone.fileno()) == {"user_timeout": 5_000, "keepalive": 1, "idle": 1}
    fleet.worker("w1")

    async def all_are_named(client: DbosDriver) -> None:
        await all_succeed(client, "done-1")  # so that DBOS has worked as well, on sessions of its own
        others = "pid <> pg_backend_pid() AND backend_type = 'client backend' AND datname = current_database()"
        names = fleet.rows(f"SELECT DISTINCT application_name FROM pg_stat_activity WHERE {others}")
        assert set(names) == {("turnlatch client",), ("turnlatch w1",)}

    fleet.ask(all_are_named)
