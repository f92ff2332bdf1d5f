"""What the service is told on its command line and in its environment."""

from __future__ import annotations

import argparse
import ipaddress
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .log import LogForm

_EXAMPLES = Path(__file__).resolve().parents[2]
TOKEN = "TURNLATCH_TOKEN"
"""The environment variable with the token that clients have to know."""
DATABASE_URL = "TURNLATCH_DATABASE_URL"
"""The environment variable with the address of the database, so that its password stands in no list of processes."""
SHARED = _EXAMPLES / "service"
"""What both services share: the API's description, the engine table, the scripted agent, the skills."""

HEADERS_SEC = "TURNLATCH_HEADERS_SEC"
BODY_SEC = "TURNLATCH_BODY_SEC"
"""The environment variables by which tests shorten the time that a request may take to arrive."""

_WORKER = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def is_secret(variable: str) -> bool:
    """Whether agents must not get this variable: the token, the database's address, and what spans are sent with."""
    return variable in (TOKEN, DATABASE_URL) or (variable.startswith("OTEL_") and variable.endswith("_HEADERS"))


class SettingsInvalid(Exception):
    """The service cannot start like this."""


@dataclass(frozen=True)
class Settings:
    """Where to listen, what to serve, and how much at a time."""

    host: str
    port: int
    data: Path
    skills: Path
    engines: Path
    console: Path
    slots: int
    token: str | None = field(repr=False)
    engine: str
    database_url: str | None = field(repr=False)
    worker: str | None
    log: LogForm
    headers_sec: float
    """How long the headers of a request may take to arrive."""
    body_sec: float
    """How long its body may take after them."""

    @property
    def way(self) -> str:
        """How runs are kept."""
        if self.engine == "embedded":
            return self.engine
        return "dbos on PostgreSQL" if self.database_url is not None else "dbos on SQLite"

    @property
    def on_loopback(self) -> bool:
        """Whether only programs of this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_settings(arguments: Sequence[str] | None, environment: Mapping[str, str]) -> Settings:
    """Reads the command line; wrong options end the program as argparse does, with status 2."""
    parser = argparse.ArgumentParser("turnlatch-service", description="Serves turnlatch runs over HTTP.")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; anything but loopback needs a token")
    parser.add_argument("--port", type=_port, default=8642, help="0 chooses a free one")
    parser.add_argument(
        "--data", type=Path, default=Path("turnlatch-data"), help="the folder that everything is kept in"
    )
    parser.add_argument("--skills", type=Path, default=SHARED / "skills", help="the folder of skills")
    parser.add_argument("--engines", type=Path, default=SHARED / "engines.json", help="the engine table")
    parser.add_argument("--console", type=Path, default=_EXAMPLES / "console/dist", help="the built console")
    parser.add_argument("--slots", type=_slots, default=2, help="how many turns run at a time")
    parser.add_argument("--engine", choices=["embedded", "dbos"], default="embedded", help="what drives the runs")
    parser.add_argument(
        "--database-url", default=environment.get(DATABASE_URL) or None, help=f"PostgreSQL, for dbos; or {DATABASE_URL}"
    )
    parser.add_argument("--worker", help="this service's name among those that share a database; the host's name")
    parser.add_argument("--log", choices=["text", "json"], default="text", help="how the log is written to stderr")
    given = parser.parse_args(arguments)
    token = environment.get(TOKEN) or None
    settings = Settings(
        host=given.host,
        port=given.port,
        data=given.data.absolute(),
        skills=given.skills.absolute(),
        engines=given.engines.absolute(),
        console=given.console.absolute(),
        slots=given.slots,
        token=token,
        engine=given.engine,
        database_url=given.database_url,
        worker=_worker(given.engine, given.database_url, given.worker),
        log=given.log,
        headers_sec=float(environment.get(HEADERS_SEC, 10)),
        body_sec=float(environment.get(BODY_SEC, 60)),
    )
    if not settings.on_loopback and token is None:
        raise SettingsInvalid(f"{given.host} can be reached from outside: set {TOKEN}, or use 127.0.0.1")
    return settings


def _worker(engine: str, database_url: str | None, worker: str | None) -> str | None:
    """The worker's name if there is one, and whether what was given goes together."""
    if engine == "embedded" and database_url is not None:
        raise SettingsInvalid(f"a database (--database-url, {DATABASE_URL}) is only used with --engine dbos")
    if database_url is None:
        if worker is not None:
            raise SettingsInvalid("--worker names one of several services, which share a database: set its URL too")
        return None
    if not database_url.startswith(("postgresql://", "postgres://")):
        raise SettingsInvalid("the database's URL begins with postgresql://; without one, dbos uses a file in --data")
    name = socket.gethostname() if worker is None else worker
    if not _WORKER.fullmatch(name):
        raise SettingsInvalid("a worker's name has letters, digits, '.', '_' and '-', at most 64: choose a --worker")
    return name


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError
    return port


def _slots(text: str) -> int:
    slots = int(text)
    if not 1 <= slots <= 1000:
        raise ValueError
    return slots
