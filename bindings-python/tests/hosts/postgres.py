"""A PostgreSQL server of the tests' own, on loopback, in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import psycopg

SETTINGS = """
listen_addresses = '{addresses}'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 300
fsync = {fsync}
"""


class Postgres:
    """Debian's binaries, run as a user that is not root: the server refuses to be root's."""

    def __init__(self, durable: bool = False, other_address: str | None = None) -> None:
        # No skip: a machine without PostgreSQL has not tested what this is about. `make setup-postgres` installs it.
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
        assert found, "PostgreSQL is needed: make setup-postgres"
        self.binaries = found[-1].parent
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        self.folder = Path(tempfile.mkdtemp(prefix="turnlatch-postgres-"))
        shutil.chown(self.folder, self.user)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.databases = 0
        self.run("initdb", "--auth=trust", f"--username={self.user}", "--no-sync", f"--pgdata={self.data}")
        with open(self.data / "postgresql.conf", "a") as settings:
            addresses = "127.0.0.1" if other_address is None else f"127.0.0.1,{other_address}"
            values = {"port": self.port, "folder": self.folder, "fsync": "on" if durable else "off"}
            settings.write(SETTINGS.format(addresses=addresses, **values))
        if other_address is not None:
            with open(self.data / "pg_hba.conf", "a") as rules:
                rules.write(f"host all all {other_address}/24 trust\n")
        self.control("start")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def database(self) -> str:
        """The address of a new database."""
        self.databases += 1
        name = f"test{self.databases}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def url(self, database: str) -> str:
        return f"postgresql://{self.user}@127.0.0.1:{self.port}/{database}"

    def guarded(self, user: str, password: str) -> str:
        """The address of a new database, for a new user who has to know a password; all others need none."""
        url = self.database()
        rules = self.data / "pg_hba.conf"
        rules.write_text(f"host all {user} 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {user} LOGIN SUPERUSER PASSWORD '{password}'".encode())
            connection.execute("SELECT pg_reload_conf()")
        return url.replace(f"//{self.user}@", f"//{user}:{password}@")

    def restart(self) -> None:
        """As an administrator does it: every connection is broken off."""
        self.control("restart", "--mode=fast")

    def close(self) -> None:
        self.control("stop", "--mode=immediate")
        shutil.rmtree(self.folder)

    def control(self, action: str, *options: str) -> None:
        log = f"--log={self.folder / 'log'}"
        self.run("pg_ctl", f"--pgdata={self.data}", "--wait", log, *options, action)

    def run(self, program: str, *arguments: str) -> None:
        # Output goes to a file and not into a pipe, which the server would keep open.
        output = self.folder / "output"
        user = self.user if os.getuid() == 0 else None
        with open(output, "w") as file:
            done = subprocess.run(
                [self.binaries / program, *arguments], cwd=self.folder, stdout=file, stderr=file, user=user, check=False
            )
        assert done.returncode == 0, output.read_text()
