"""The Node service on DBOS: each data folder has a database of its own, on a server of the tests."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SERVER = "TURNLATCH_TEST_SERVER"
SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 300
fsync = off
"""


class Postgres:
    """Debian's binaries, run as a user that is not root: the server refuses to be root's."""

    def __init__(self) -> None:
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
        self.run("initdb", "--auth=trust", f"--username={self.user}", "--no-sync", f"--pgdata={self.folder}/data")
        with open(self.folder / "data/postgresql.conf", "a") as settings:
            settings.write(SETTINGS.format(port=self.port, folder=self.folder))
        self.control("start")

    @property
    def url(self) -> str:
        return f"postgresql://{self.user}@127.0.0.1:{self.port}"

    def close(self) -> None:
        self.control("stop", "--mode=immediate")
        shutil.rmtree(self.folder)

    def control(self, action: str, *options: str) -> None:
        log = f"--log={self.folder / 'log'}"
        self.run("pg_ctl", f"--pgdata={self.folder}/data", "--wait", log, *options, action)

    def run(self, program: str, *arguments: str) -> None:
        # Output goes to a file and not into a pipe, which the server would keep open.
        output = self.folder / "output"
        user = self.user if os.getuid() == 0 else None
        with open(output, "w") as file:
            command = [self.binaries / program, *arguments]
            done = subprocess.run(command, cwd=self.folder, stdout=file, stderr=file, user=user, check=False)
        assert done.returncode == 0, output.read_text()


def database_of(data: str) -> str:
    """The address of the database that goes with a data folder; made if it is not there."""
    name = f"data_{hashlib.sha256(data.encode()).hexdigest()[:16]}"
    server = os.environ[SERVER]
    psql = sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1]
    made = subprocess.run(
        [psql, f"{server}/postgres", "--quiet", f"--command=CREATE DATABASE {name}"], capture_output=True, text=True
    )
    assert made.returncode == 0 or "already exists" in made.stderr, made.stderr
    return f"{server}/{name}"


if __name__ == "__main__":
    given = sys.argv[1:]
    environment = {**os.environ, "TURNLATCH_DATABASE_URL": database_of(given[given.index("--data") + 1])}
    service = str(ROOT / "examples/node-service/dist/main.js")
    os.execvpe("node", ["node", service, "--engine", "dbos", *given], environment)
