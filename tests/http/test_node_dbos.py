"""Several Node services on one database and one data folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import psycopg
import pytest

from node_dbos import database_of
from running import LAUNCHERS, RunningService, processes_of, until

StartWorker = Callable[..., RunningService]


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[StartWorker]:
    """Starts services by the names of their workers. They share a data folder, and so a database."""
    started: list[RunningService] = []

    def start(worker: str, *options: str) -> RunningService:
        running = RunningService("node-dbos", tmp_path / "data", "--slots", "3", "--worker", worker, *options)
        started.append(running)
        return running

    yield start
    for running in started:
        if running.process.poll() is None:
            assert running.stop() == 0
    for running in started:
        assert " ERROR " not in running.said(), running.said()


def go(service: RunningService, run_id: str) -> None:
    """Lets the agent of a `gated` run go on."""
    (service.data / "runs" / run_id / "work" / "go").touch()


def owner(service: RunningService, run_id: str) -> str:
    """The worker that carries out the run's turn."""
    query = "SELECT executor_id FROM turnlatch_slots WHERE run_id = %s"
    with psycopg.connect(database_of(str(service.data))) as connection:
        row = connection.execute(query, (run_id,)).fetchone()
    return "" if row is None else str(row[0])


def refused(*options: str) -> str:
    """What a service says that does not start."""
    environment = {name: value for name, value in os.environ.items() if name != "TURNLATCH_DATABASE_URL"}
    done = subprocess.run([*options], capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 2, done
    assert done.stdout == ""
    return done.stderr


def test_every_service_sees_and_answers_every_run(start_worker: StartWorker) -> None:
    first, second = start_worker("w1"), start_worker("w2")
    run_id = first.create("ask-once", execution_mode="interactive")
    assert second.wait(run_id, "waiting_user")["status"] == "waiting_user"
    assert second.post("/v1/jobs", {"skill": "ask-once", "engine": "scripted", "run_id": run_id}).status_code == 409
    assert second.reply(run_id, 1, "b.txt").json()["receipt"] == "accepted"
    late = first.reply(run_id, 1, "c.txt")
    assert (late.status_code, late.json()["error"]["code"]) in ((409, "STALE_INTERACTION"), (409, "RUN_ALREADY_ENDED"))
    assert first.wait(run_id)["data"] == {"file": "b.txt"}
    for path in ("/v1/jobs", *(f"/v1/jobs/{run_id}{rest}" for rest in ("", "/snapshot", "/record", "/explanation"))):
        assert first.get(path).text == second.get(path).text, path


def test_changes_have_the_same_numbers_everywhere(start_worker: StartWorker) -> None:
    services = [start_worker("w1"), start_worker("w2")]
    runs = [services[n % 2].create("direct") for n in range(10)]
    for run_id in runs:
        services[0].wait(run_id)
    seen = []
    for service in services:
        # Created, granted and finished: three changes of each run.
        with service.events("/v1/events", 0) as events:
            seen.append([(event.id, event.data) for event in islice(events, 3 * len(runs))])
    assert seen[0] == seen[1]
    assert [int(number) for number, _ in seen[0]] == list(range(1, 3 * len(runs) + 1))
    for run_id in runs:
        assert [data["revision"] for _, data in seen[0] if data["run_id"] == run_id] == [1, 2, 3]


def test_slots_are_those_of_all(start_worker: StartWorker) -> None:
    services = [start_worker("w1"), start_worker("w2")]
    runs = [services[n % 2].create("gated", execution_mode="interactive") for n in range(5)]
    until(lambda: len(services[0].held_slots()) == 3)
    slots = [service.get("/v1/health").json()["slots"] for service in services]
    assert slots[0] == slots[1]
    assert (slots[0]["total"], len(slots[0]["held"]), slots[0]["waiting"]) == (3, 3, 2)
    for run_id in runs:
        go(services[0], run_id)
    assert {services[1].wait(run_id, "waiting_user")["status"] for run_id in runs} == {"waiting_user"}
    until(lambda: services[0].held_slots() == [])


def test_a_killed_service_is_taken_over(start_worker: StartWorker) -> None:
    services = {name: start_worker(name) for name in ("w1", "w2")}
    retry = {"interrupted_turn": "retry"}
    run_id = services["w1"].create("gated", execution_mode="interactive", runtime_options=retry)
    until(lambda: owner(services["w1"], run_id) != "" and processes_of(services["w1"]))
    killed = services.pop(owner(services["w1"], run_id))
    killed.kill()
    (left,) = services.values()
    go(left, run_id)
    assert left.wait(run_id, "waiting_user")["status"] == "waiting_user"
    until(lambda: left.held_slots() == [])
    assert processes_of(left) == []


def test_what_cannot_be_started_is_refused(start_worker: StartWorker, tmp_path: Path) -> None:
    node, on_dbos = LAUNCHERS["node"], LAUNCHERS["node-dbos"]
    assert "TURNLATCH_DATABASE_URL" in refused(*node, "--engine", "dbos", "--data", str(tmp_path / "data"))
    said = refused(*node, "--engine", "dbos", "--database-url", "sqlite:///secret", "--data", str(tmp_path / "data"))
    assert "PostgreSQL" in said
    assert "secret" not in said
    assert "embedded or dbos" in refused(*node, "--engine", "paper")
    assert "--worker" in refused(*on_dbos, "--data", str(tmp_path / "data"), "--worker", "../w1")
    nobody = ["--database-url", "postgresql://127.0.0.1:1/none"]
    assert "cannot be used" in refused(*node, "--port", "0", "--engine", "dbos", *nobody, "--data", str(tmp_path / "n"))
    service = start_worker("w1")
    same = [*on_dbos, *service.arguments()]
    assert "another service uses" in refused(*same)
    # On another machine the folder is not known to be in use, but the database knows the worker.
    elsewhere = ["--database-url", database_of(str(service.data)), "--data", str(tmp_path / "elsewhere")]
    assert "w1" in refused(*node, "--port", "0", "--engine", "dbos", *elsewhere, "--worker", "w1")
    assert service.get("/v1/health").json()["status"] == "ok"


def test_the_address_of_the_database_is_not_for_agents(start_worker: StartWorker, tmp_path: Path) -> None:
    service = start_worker("w1")
    run_id = service.create("direct", engine="environment", execution_mode="auto")
    service.wait(run_id)
    journal = service.get(f"/v1/jobs/{run_id}/record").text
    assert "ANSWER=42" in journal
    assert "postgresql" not in journal
    table = tmp_path / "engines.json"
    table.write_text('{"engines": {"e": {"first": ["env"], "inherit": ["TURNLATCH_DATABASE_URL"]}}}')
    said = refused(*LAUNCHERS["node"], "--engines", str(table), "--data", str(tmp_path / "other"))
    assert "TURNLATCH_DATABASE_URL" in said
