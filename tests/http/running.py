"""A service as a real process, and a client that speaks to it over HTTP."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psycopg

from node_dbos import database_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKILLS = HERE / "skills"
LONGEST_WAIT_SEC = 120  # on a busy machine everything takes its time
DATABASE_URL = "TURNLATCH_DATABASE_URL"
# A client makes one of its own otherwise and reads all certificates of the machine; there is no TLS on loopback.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

# Most services of the tests live for seconds, half of which would go into optimising the core's code.
NODE_SERVICE = ["node", "--liftoff-only", str(ROOT / "examples/node-service/dist/main.js")]
# How each service is started; what follows on the command line is the same for all.
LAUNCHERS: dict[str, list[str]] = {
    "python": [sys.executable, "-m", "turnlatch_service"],
    "node": NODE_SERVICE,
    "python-dbos": [sys.executable, "-m", "turnlatch_service", "--engine", "dbos"],
    "node-dbos": [*NODE_SERVICE, "--engine", "dbos"],
}
# The kinds that go on with each other's data folders.
SUCCESSORS = ("python", "node")


# The files in the data folder that services keep their runs in; those of Node on DBOS are in PostgreSQL.
FILES = {"python": "turnlatch.sqlite", "node": "turnlatch.sqlite", "python-dbos": "turnlatch-dbos.sqlite"}


def environment_of(kind: str, data: Path) -> dict[str, str]:
    """What a service on this data folder gets in its environment."""
    # Scripted agents are run by the tests' own interpreter: what a shell calls python3 may be a slow script.
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return {**os.environ, **path, **({DATABASE_URL: database_of(data)} if kind == "node-dbos" else {})}


def refused_start(kind: str, data: Path, *options: str, **environment: str) -> str:
    """What a service says that does not start."""
    command = [*LAUNCHERS[kind], "--port", "0", "--data", str(data), "--engines", str(HERE / "engines.json"), *options]
    known = {**environment_of(kind, data), **environment}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, env=known, check=False)
    assert (ended.returncode, ended.stdout) == (2, ""), ended
    assert ended.stderr and "Traceback" not in ended.stderr, ended.stderr
    return ended.stderr


class ServerSentEvent(NamedTuple):
    """``id`` is empty where the event had none."""

    id: str
    event: str
    data: Any


class RunningService:
    """One service on one data folder. It can be killed and started again; the data stays."""

    def __init__(
        self, kind: str, data: Path, *options: str, token: str | None = None, environment: dict[str, str] | None = None
    ) -> None:
        self.kind = kind
        self.data = data
        self.log_file = data.with_suffix(".log")
        self._options = options
        self._token = token
        self.environment = environment or {}
        self.may_break = False  # for tests that break something on purpose; otherwise no error may be in the log
        self.start()

    def start(self) -> None:
        """Starts the process and waits until it listens."""
        command = [*LAUNCHERS[self.kind], *self.arguments()]
        token = {"TURNLATCH_TOKEN": self._token} if self._token else {}
        environment = {**environment_of(self.kind, self.data), **self.environment, **token}
        self.log = self.log_file.open("ab")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, env=environment, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://"), f"{line!r}\n{self.said()}"
        self.url = line.removeprefix("listening on ").strip()
        headers = {b"Authorization": f"Bearer {self._token}".encode()} if self._token else {}
        limits = httpx.Limits(max_connections=200, max_keepalive_connections=50)
        self.http = self.client(headers=headers, limits=limits)

    def client(self, **more: Any) -> httpx.Client:
        """A client of its own."""
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False, verify=NO_TLS, **more)

    def arguments(self) -> list[str]:
        """The command line of a test's service; later options win."""
        given = ["--port", "0", "--data", str(self.data), "--skills", str(SKILLS)]
        return [*given, "--engines", str(HERE / "engines.json"), *self._options]

    def tamper(self, statement: str, *values: str) -> None:
        """Changes the database behind the service's back; ``{}`` in the statement begins a table's name."""
        statement = statement.format("turnlatch_" if self.kind.endswith("-dbos") else "")
        if self.kind in FILES:
            with closing(sqlite3.connect(self.data / FILES[self.kind], timeout=30)) as file, file:
                file.execute(statement, values)
        else:
            with psycopg.connect(database_of(self.data)) as db:
                db.execute(statement.replace("?", "%s").encode(), values)

    def said(self) -> str:
        """What the service has logged."""
        return self.log_file.read_text(encoding="utf-8")

    def errors(self) -> list[str]:
        """What it has logged as errors."""
        return [line for line in self.said().splitlines() if " ERROR " in line]

    def kill(self) -> None:
        """SIGKILL: the service learns nothing of it."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM, and the exit status."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        self.http.close()
        self.process.send_signal(number)
        status = self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.log.close()
        return status

    # What a client does.

    def get(self, path: str, **more: Any) -> httpx.Response:
        """GET."""
        return self.http.get(path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """POST with a JSON body, or with none."""
        return self.http.post(path, **({} if body is None else {"json": body}), **more)

    def create(self, skill: str, **members: Any) -> str:
        """Makes a run of a test skill. Its id."""
        made = self.post("/v1/jobs", {"skill": skill, "engine": "scripted", **members})
        assert made.status_code == 201, made.text
        return str(made.json()["run_id"])

    def view(self, run_id: str) -> dict[str, Any]:
        """The status view."""
        found: dict[str, Any] = self.get(f"/v1/jobs/{run_id}").raise_for_status().json()
        return found

    def held_slots(self) -> list[str]:
        """The slots in use. One is given back when nothing of its process is left."""
        held: list[str] = self.get("/v1/health").json()["slots"]["held"]
        return held

    def reply(self, run_id: str, interaction_id: int, response: Any, **members: Any) -> httpx.Response:
        """Answers a question."""
        body = {"interaction_id": interaction_id, "response": response, **members}
        return self.post(f"/v1/jobs/{run_id}/interaction/reply", body)

    def wait(self, run_id: str, *statuses: str, after: int = 0) -> dict[str, Any]:
        """Follows the run's steps after a revision until one of the statuses, or its end. The view then."""
        with self.steps(run_id, after or None) as events:
            for event in events:
                if event.event == "end" or event.data["status"] in statuses:
                    break
        return self.view(run_id)

    @contextmanager
    def steps(self, run_id: str, last: int | None = None) -> Generator[Iterator[ServerSentEvent], None, None]:
        """The steps of a run and its end, without what is said between them."""
        with self.events(f"/v1/jobs/{run_id}/events", last) as events:
            yield (event for event in events if event.event != "said")

    @contextmanager
    def events(self, path: str, last: int | None = None) -> Generator[Iterator[ServerSentEvent], None, None]:
        """The events of a stream, as they come."""
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        with self.http.stream("GET", path, headers=headers) as response:
            assert response.status_code == 200, response.read()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield read_events(lines_of(response.iter_bytes()))


def lines_of(chunks: Iterator[bytes]) -> Iterator[str]:
    """Lines as an EventSource sees them; Python's own way would split at U+2028 too."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode() for line in lines)


def read_events(lines: Iterator[str]) -> Iterator[ServerSentEvent]:
    """Server-sent events of their lines; comments are skipped."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if fields:
                yield ServerSentEvent(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            assert name not in fields, line
            fields[name] = value


def until(happened: Callable[[], object]) -> None:
    """Looks again and again until it has happened; a test that waits in vain must fail, not hang."""
    end = time.monotonic() + LONGEST_WAIT_SEC
    while not happened():
        assert time.monotonic() < end, f"this did not happen within {LONGEST_WAIT_SEC} seconds"
        time.sleep(0.03)


def processes_of(service: RunningService, run_id: str | None = None) -> list[str]:
    """The command lines of everything that is given paths of this service's runs, or works in their folders."""
    runs = f"{service.data}/runs/" if run_id is None else f"{service.data}/runs/{run_id}/"
    return processes(lambda command, folder: runs in command or folder.startswith(runs))


def agents_of(service: RunningService, run_id: str | None = None) -> list[str]:
    """The agents themselves, without those who watch over them."""
    return [command for command in processes_of(service, run_id) if "supervise" not in command]


def processes(wanted: Callable[[str, str], bool]) -> list[str]:
    """The command lines of living processes, chosen by their command line and working folder."""
    found: list[str] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                works_in = os.readlink(folder / "cwd")
            except OSError:
                continue
            if wanted(command, works_in):
                found.append(command)
    return found
