"""A worker whose packets are dropped: ``unshare --net python -m hosts.dropped_packets FOLDER``.

The database is in the network namespace of this process and the worker in another one; a pair of virtual interfaces
joins them. While this side's interface is down nothing is acknowledged, and no proxy and no kernel of the other
side closes a connection: what ends them is ``tcp_user_timeout``.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hosting import plan
from turnlatch.hosts.dbos import DbosDriver

from .fleet import QUICK_TAKEOVER, Fleet, Worker, until
from .postgres import Postgres

SERVER, CLIENT = "10.77.0.1", "10.77.0.2"
# The pool waits longest, 15 seconds, and packets that are not acknowledged are sent again for a quarter of an hour.
GIVEN_UP_SEC = 60
BACK_SEC = 60
ESTABLISHED = "01"


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@contextmanager
def other_namespace() -> Iterator[list[str]]:
    """The command that runs another one in a namespace that is joined with this one."""
    ip("link", "set", "lo", "up")
    holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo there; exec cat"], stdin=-1, stdout=-1)
    assert holder.stdin is not None and holder.stdout is not None
    holder.stdout.readline()
    try:
        inside = ["nsenter", f"--target={holder.pid}", "--net", "--"]
        ip("link", "add", "here", "type", "veth", "peer", "name", "there")
        ip("link", "set", "there", "netns", str(holder.pid))
        ip("address", "add", f"{SERVER}/24", "dev", "here")
        ip("link", "set", "here", "up")
        for command in (
            ["link", "set", "lo", "up"],
            ["address", "add", f"{CLIENT}/24", "dev", "there"],
            ["link", "set", "there", "up"],
        ):
            subprocess.run([*inside, "ip", *command], check=True)
        yield inside
    finally:
        holder.stdin.close()
        holder.wait()


def connections(worker: Worker, port: int) -> set[int]:
    """The local ports of the connections to the database in the worker's namespace that the kernel has not given up."""
    with open(f"/proc/{worker.process.pid}/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    remote = f":{port:04X}"
    return {
        int(local.split(":")[1], 16)
        for _, local, other, state, *_ in rows
        if state == ESTABLISHED and other.endswith(remote)
    }


def listeners(fleet: Fleet) -> set[int]:
    """The sessions of the worker that listen."""
    found = """SELECT pid FROM pg_stat_activity WHERE application_name = 'turnlatch w1' AND client_addr = %s
        AND query = 'LISTEN turnlatch'"""
    return {int(row[0]) for row in fleet.rows(found, CLIENT)}


async def play(fleet: Fleet, inside: list[str], port: int, client: DbosDriver) -> None:
    url = fleet.url.replace("@127.0.0.1:", f"@{SERVER}:")
    one = fleet.worker("w1", launcher=inside, database_url=url, takeover_after_sec=QUICK_TAKEOVER)
    await client.start(plan("hold-1", interrupted_turn="retry"))
    await until(lambda: fleet.started("hold-1") == [1])
    await until(lambda: listeners(fleet) != set())
    agents, before, listened = set(fleet.agents()), connections(one, port), listeners(fleet)
    assert len(before) >= 3, "the lease, the listener and the pool"
    await asyncio.to_thread(fleet.worker, "w2", takeover_after_sec=QUICK_TAKEOVER)

    ip("link", "set", "here", "down")
    cut_at = time.monotonic()
    await until(lambda: fleet.started("hold-1") == [1, 1])  # the other one has taken over
    await asyncio.wait_for(until(lambda: not before & connections(one, port)), GIVEN_UP_SEC)
    print(f"{len(before)} connections were given up in {time.monotonic() - cut_at:.1f} s")
    assert not fleet.is_present("w1")

    ip("link", "set", "here", "up")
    up_at = time.monotonic()
    await asyncio.wait_for(until(lambda: fleet.is_present("w1")), BACK_SEC)
    await asyncio.wait_for(until(lambda: listeners(fleet) - listened != set()), BACK_SEC)
    print(f"the worker was back after {time.monotonic() - up_at:.1f} s")
    await until(lambda: not agents & set(fleet.agents()))  # it has ended those that are not its own any more
    fleet.let_go("hold-1")
    await client.wait("hold-1", "waiting_user")
    await client.settled("hold-1")
    await asyncio.to_thread(fleet.workers[1].close)
    await client.start(plan("done-1"))
    assert (await client.wait("done-1"))["status"] == "succeeded"
    await until(lambda: fleet.held() == set())


def main(folder: Path) -> None:
    with other_namespace() as inside:
        postgres = Postgres(other_address=SERVER)
        try:
            fleet = Fleet(postgres.database(), folder)
            try:
                fleet.ask(lambda client: play(fleet, inside, postgres.port, client))
            finally:
                fleet.close()
        finally:
            postgres.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
