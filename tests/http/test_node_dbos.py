"""Several Node services on one database and one data folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgres import Postgres
from way import Way

from node_dbos import database_of
from running import DATABASE_URL, RunningService, processes_of, refused_start, until


@contextmanager
def workers(data: Path, *names: str) -> Generator[list[RunningService], None, None]:
    """Services on one data folder, which share a database too."""
    services = [RunningService("node-dbos", data, "--slots", "3", "--worker", name) for name in names]
    try:
        yield services
    finally:
        for running in services:
            if running.process.poll() is None:
                assert running.stop() == 0
    assert " ERROR " not in services[0].said(), services[0].said()


@pytest.fixture(scope="module")
def pair(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RunningService]]:
    """Two services that tests share: each makes runs of its own, and leaves no slot in use."""
    with workers(tmp_path_factory.mktemp("pair") / "data", "w1", "w2") as services:
        yield services


def go(service: RunningService, run_id: str) -> None:
    """Lets the agent of a `gated` run go on."""
    (service.data / "runs" / run_id / "work" / "go").touch()


def owner(service: RunningService, run_id: str) -> str:
    """The worker that carries out the run's turn."""
    query = "SELECT executor_id FROM turnlatch_slots WHERE run_id = %s"
    with psycopg.connect(database_of(service.data)) as connection:
        row = connection.execute(query, (run_id,)).fetchone()
    return "" if row is None else str(row[0])


def test_every_service_sees_and_answers_every_run(pair: list[RunningService]) -> None:
    first, second = pair
    run_id = first.create("ask-once", execution_mode="interactive")
    assert second.wait(run_id, "waiting_user")["status"] == "waiting_user"
    assert second.post("/v1/jobs", {"skill": "ask-once", "engine": "scripted", "run_id": run_id}).status_code == 409
    assert second.reply(run_id, 1, "b.txt").json()["kind"] == "accepted"
    late = first.reply(run_id, 1, "c.txt")
    assert (late.status_code, late.json()["error"]["code"]) in ((409, "STALE_INTERACTION"), (409, "RUN_ALREADY_ENDED"))
    assert first.wait(run_id)["data"] == {"file": "b.txt"}
    for path in ("/v1/jobs", *(f"/v1/jobs/{run_id}{rest}" for rest in ("", "/snapshot", "/record", "/explanation"))):
        assert first.get(path).text == second.get(path).text, path


def test_changes_have_the_same_numbers_everywhere(pair: list[RunningService]) -> None:
    runs = [pair[n % 2].create("direct") for n in range(10)]
    for run_id in runs:
        pair[0].wait(run_id)
    seen: list[list[tuple[str, Any]]] = []
    for service in pair:
        with service.events("/v1/events", 0) as events:
            # Those of other tests may stand between ours: whoever follows first gives numbers to all that have none.
            changes: list[tuple[str, Any]] = []
            ours = 0
            while ours < 3 * len(runs):  # created, granted and finished
                change = next(events)
                changes.append((change.id, change.data))
                ours += change.data["run_id"] in runs
            seen.append(changes)
    assert seen[0] == seen[1]
    assert [int(number) for number, _ in seen[0]] == list(range(1, len(seen[0]) + 1))
    for run_id in runs:
        assert [data["revision"] for _, data in seen[0] if data["run_id"] == run_id] == [1, 2, 3]


def test_slots_are_those_of_all(pair: list[RunningService]) -> None:
    runs = [pair[n % 2].create("gated", execution_mode="interactive") for n in range(5)]
    until(lambda: len(pair[0].held_slots()) == 3)
    slots = [service.get("/v1/health").json()["slots"] for service in pair]
    assert slots[0] == slots[1]
    assert (slots[0]["total"], len(slots[0]["held"]), slots[0]["waiting"]) == (3, 3, 2)
    for run_id in runs:
        go(pair[0], run_id)
    assert {pair[1].wait(run_id, "waiting_user")["status"] for run_id in runs} == {"waiting_user"}
    until(lambda: pair[0].held_slots() == [])


def test_a_killed_service_is_taken_over(postgres: Postgres, tmp_path: Path) -> None:
    with workers(tmp_path / "data", "w1", "w2") as pair:
        services = dict(zip(("w1", "w2"), pair, strict=True))
        retry = {"interrupted_turn": "retry"}
        run_id = pair[0].create("gated", execution_mode="interactive", runtime_options=retry)
        until(lambda: owner(pair[0], run_id) != "" and processes_of(pair[0]))
        services.pop(owner(pair[0], run_id)).kill()
        (left,) = services.values()
        go(left, run_id)
        assert left.wait(run_id, "waiting_user")["status"] == "waiting_user"
        until(lambda: left.held_slots() == [])
        assert processes_of(left) == []


def test_what_a_creation_left_that_was_cut_off_is_replaced(pair: list[RunningService]) -> None:
    one = pair[0]
    left = one.data / "runs" / "left-over"
    (left / "skill").mkdir(parents=True)
    (left / "skill" / "SKILL.md").write_text("what another skill said")
    assert one.create("ask-once", run_id="left-over", execution_mode="interactive") == "left-over"
    one.wait("left-over", "waiting_user")
    assert "another skill" not in (left / "skill" / "SKILL.md").read_text()
    assert not [folder for folder in left.parent.iterdir() if folder.name.startswith("~")]


def test_one_id_at_two_services(pair: list[RunningService]) -> None:
    def create(number: int) -> tuple[int, str]:
        skill = ["ask-once", "soft"][number % 2]
        body = {"skill": skill, "engine": "scripted", "execution_mode": "interactive", "run_id": "wanted-by-many"}
        answer = pair[number // 2 % 2].post("/v1/jobs", body)
        assert answer.status_code == 201 or answer.json()["error"]["code"] == "RUN_EXISTS"
        return answer.status_code, skill

    with ThreadPoolExecutor(12) as clients:
        answers = list(clients.map(create, range(12)))
    assert Counter(status for status, _ in answers) == {201: 1, 409: 11}
    [winner] = [skill for status, skill in answers if status == 201]
    status = pair[0].wait("wanted-by-many", "waiting_user")["status"]
    assert status == {"ask-once": "waiting_user", "soft": "succeeded"}[winner], "its folder is the winner's too"


def test_a_silent_listener_delays_a_step_and_loses_none(postgres: Postgres, tmp_path: Path) -> None:
    data, way = tmp_path / "data", Way(postgres.port)
    # Changes are never announced to this service, and its connection stays open.
    way.silence(b"LISTEN turnlatch")
    with workers(data, "w1") as (one,), closing(way):
        by_the_way = ("--slots", "3", "--worker", "w2", "--database-url", way.url(database_of(data)))
        deaf = RunningService("node", data, "--engine", "dbos", *by_the_way)
        try:
            run_id = one.create("gated", execution_mode="interactive")
            one.wait(run_id, "running")
            until(lambda: owner(one, run_id) != "" and processes_of(one))
            with deaf.steps(run_id) as steps:
                assert [next(steps).data["event"] for _ in range(2)] == ["created", "slot_granted"]
                go(one, run_id)
                assert next(steps).data["status"] == "waiting_user"
        finally:
            assert deaf.stop() == 0


def test_what_cannot_be_started_is_refused(pair: list[RunningService], tmp_path: Path) -> None:
    def refused(kind: str, *options: str, data: Path = tmp_path / "data") -> str:
        return refused_start(kind, data, *options)

    assert DATABASE_URL in refused("node", "--engine", "dbos")
    said = refused("node", "--engine", "dbos", "--database-url", "sqlite:///secret")
    assert "PostgreSQL" in said
    assert "secret" not in said
    assert "embedded or dbos" in refused("node", "--engine", "paper")
    assert "--worker" in refused("node-dbos", "--worker", "../w1")
    nobody = ["--database-url", "postgresql://127.0.0.1:1/none"]
    assert "cannot be used" in refused("node", "--engine", "dbos", *nobody)
    service = pair[0]
    assert "another service uses" in refused("node-dbos", "--worker", "w1", data=service.data)
    # On another machine the folder is not known to be in use, but the database knows the worker.
    elsewhere = ["--database-url", database_of(service.data), "--worker", "w1"]
    assert "w1" in refused("node", "--engine", "dbos", *elsewhere, data=tmp_path / "elsewhere")
    assert service.get("/v1/health").json()["status"] == "ok"


def test_the_address_of_the_database_is_not_for_agents(pair: list[RunningService], tmp_path: Path) -> None:
    run_id = pair[0].create("direct", engine="environment", execution_mode="auto")
    pair[0].wait(run_id)
    journal = pair[0].get(f"/v1/jobs/{run_id}/record").text
    assert "ANSWER=42" in journal
    assert "postgresql" not in journal
    table = tmp_path / "engines.json"
    table.write_text('{"engines": {"e": {"first": ["env"], "inherit": ["TURNLATCH_DATABASE_URL"]}}}')
    assert DATABASE_URL in refused_start("node", tmp_path / "data", "--engines", str(table))
