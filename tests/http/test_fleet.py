"""Several services on one PostgreSQL database and one data folder: any of them answers for any run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from running import HERE, LAUNCHERS, ROOT, RunningService, ServerSentEvent, processes_of, until

sys.path.append(str(ROOT / "bindings-python/tests/hosts"))
from postgres import Postgres

RETRY = {"interrupted_turn": "retry"}
URL = "TURNLATCH_DATABASE_URL"
PASSWORD = "s3cret-p4ss"
StartWorker = Callable[..., RunningService]


class Worker(RunningService):
    """A service with a name; its log is its own."""

    def __init__(self, name: str, url: str, data: Path, *options: str) -> None:
        self._name = name
        super().__init__("python-dbos", data, "--worker", name, *options, environment={URL: url})

    def start(self) -> None:
        """Starts the process and waits until it listens."""
        self.log_file = self.data.with_suffix(f".{self._name}.log")
        super().start()


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.database()


@pytest.fixture
def worker(url: str, tmp_path: Path) -> Iterator[StartWorker]:
    """Starts services that share a database and a data folder."""
    started: list[Worker] = []

    def start(name: str, *options: str) -> Worker:
        started.append(Worker(name, url, tmp_path / "data", "--slots", "3", *options))
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            assert running.stop() == 0
        assert " ERROR " not in running.said(), running.said()


def go(service: RunningService, run_id: str, gate: str = "go") -> None:
    """Lets the agent of a `gated` run go on."""
    (service.data / "runs" / run_id / "work" / gate).touch()


def agents_of(service: RunningService) -> list[str]:
    return [command for command in processes_of(service) if "_supervise" not in command]


def interrupted_turn(first: RunningService) -> str:
    """A run whose agent is at work at the first service."""
    run_id = first.create("gated", execution_mode="interactive", runtime_options=RETRY)
    first.wait(run_id, "running")
    until(lambda: len(agents_of(first)) == 1)
    return run_id


def refused(data: Path, *options: str, **environment: str) -> str:
    """What a service says that does not start."""
    command = [*LAUNCHERS["python"], "--port", "0", "--data", str(data), "--engines", str(HERE / "engines.json")]
    known = {**{name: value for name, value in os.environ.items() if name != URL}, **environment}
    ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, env=known, check=False)
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    return ended.stderr


def test_a_run_is_everybodys(worker: StartWorker) -> None:
    one = worker("one")
    run_id = one.create("gated", execution_mode="interactive")
    one.wait(run_id, "running")
    two = worker("two")
    with two.steps(run_id) as seen:
        assert [next(seen).data["event"] for _ in range(2)] == ["created", "slot_granted"]
        go(one, run_id)
        assert next(seen).data["status"] == "waiting_user"
        assert two.reply(run_id, 1, "b.txt").json()["receipt"] == "accepted"
        assert one.reply(run_id, 1, "c.txt").json()["error"]["code"] == "STALE_INTERACTION"
        go(one, run_id, "go-on")
        assert [step.id for step in seen] == ["4", "5", "6", ""]
    assert one.view(run_id)["data"] == {"file": "b.txt"}
    for path in ("", "/interaction/history", "/explanation", "/snapshot", "/record", "/events"):
        assert one.get(f"/v1/jobs/{run_id}{path}").text == two.get(f"/v1/jobs/{run_id}{path}").text
    assert one.get("/v1/jobs").json() == two.get("/v1/jobs").json()
    assert [job["skill"] for job in two.get("/v1/jobs").json()["jobs"]] == ["gated"]


def test_health_is_that_of_all(worker: StartWorker) -> None:
    one = worker("one")
    runs = [one.create("gated") for _ in range(4)]
    until(lambda: len(one.held_slots()) == 3)
    two = worker("two")
    healths = [service.get("/v1/health").json() for service in (one, two)]
    assert healths[0] == healths[1]
    slots = healths[0]["slots"]
    assert (slots["total"], len(slots["held"]), slots["waiting"], healths[0]["unfinished"]) == (3, 3, 1, 4)
    for run_id in runs:
        assert two.post(f"/v1/jobs/{run_id}/cancel").status_code == 200
    until(lambda: not agents_of(one))
    until(lambda: two.get("/v1/health").json()["slots"] == {"total": 3, "held": [], "waiting": 0})


def test_one_is_killed_and_the_other_goes_on(worker: StartWorker) -> None:
    one = worker("one")
    run_id = interrupted_turn(one)
    two = worker("two")
    waiting = two.create("ask-once", execution_mode="interactive")
    two.wait(waiting, "waiting_user")
    one.kill()
    assert two.reply(waiting, 1, "b.txt").json()["receipt"] == "accepted", "nobody is needed for that"
    with two.steps(run_id, 2) as steps:
        assert [next(steps).data["event"] for _ in range(2)] == ["process_lost", "slot_granted"]
    go(two, run_id)
    assert two.wait(run_id, "waiting_user")["attempt_number"] == 1
    assert two.wait(waiting)["data"] == {"file": "b.txt"}
    one.start()
    assert one.reply(run_id, 1, "c.txt").json()["receipt"] == "accepted"
    go(one, run_id, "go-on")
    assert one.wait(run_id)["data"] == {"file": "c.txt"}


def test_one_is_stopped_in_the_middle_of_a_turn(worker: StartWorker) -> None:
    one = worker("one")
    run_id = interrupted_turn(one)
    two = worker("two")
    assert one.stop() == 0
    with two.steps(run_id, 2) as steps:
        assert [next(steps).data["event"] for _ in range(2)] == ["process_lost", "slot_granted"]
    until(lambda: len(agents_of(two)) == 1)
    go(two, run_id)
    assert two.wait(run_id, "waiting_user")["attempt_number"] == 1


def test_followers_at_any_service_miss_nothing(worker: StartWorker) -> None:
    services = [worker("one"), worker("two")]
    runs = 16

    def follow(service: RunningService) -> list[ServerSentEvent]:
        ended, seen = 0, []
        with service.events("/v1/events", 0) as changes:
            while ended < runs:
                seen.append(next(changes))
                ended += seen[-1].data["revision"] == 6
        return seen

    def whole(number: int) -> str:
        here, there = services[number % 2], services[1 - number % 2]
        run_id = here.create("ask-once", execution_mode="interactive")
        there.wait(run_id, "waiting_user")
        assert there.reply(run_id, 1, "b.txt").status_code == 200
        assert here.wait(run_id)["status"] == "succeeded"
        return run_id

    with ThreadPoolExecutor(12) as clients:
        followers = [clients.submit(follow, service) for service in services * 2]
        run_ids = list(clients.map(whole, range(runs)))
        seen = [follower.result() for follower in followers]
    assert all(other == seen[0] for other in seen), "in one order"
    assert [int(event.id) for event in seen[0]] == list(range(1, 6 * runs + 1))
    for run_id in run_ids:
        assert [event.data["revision"] for event in seen[0] if event.data["run_id"] == run_id] == [1, 2, 3, 4, 5, 6]


def test_one_id_at_two_services(worker: StartWorker) -> None:
    services, skills = [worker("one"), worker("two")], ["ask-once", "soft"]

    def create(number: int) -> tuple[int, str]:
        skill = skills[number % 2]
        body = {"skill": skill, "engine": "scripted", "execution_mode": "interactive", "run_id": "wanted-by-many"}
        told = services[number // 2 % 2].post("/v1/jobs", body)
        assert told.status_code == 201 or told.json()["error"]["code"] == "RUN_EXISTS"
        return told.status_code, skill

    with ThreadPoolExecutor(12) as clients:
        told = list(clients.map(create, range(12)))
    assert Counter(status for status, _ in told) == {201: 1, 409: 11}
    [winner] = [skill for status, skill in told if status == 201]
    status = services[0].wait("wanted-by-many", "waiting_user")["status"]
    assert status == {"ask-once": "waiting_user", "soft": "succeeded"}[winner], "its folder is the winner's too"


def test_agents_never_see_the_database(worker: StartWorker) -> None:
    one = worker("one")
    run_id = one.create("artifact", engine="environment")
    one.wait(run_id)
    environment = one.get(f"/v1/jobs/{run_id}/record").text
    assert "ANSWER=42" in environment
    assert "postgresql:" not in environment and URL not in environment


def test_a_name_is_taken_once(worker: StartWorker, url: str, tmp_path: Path) -> None:
    one = worker("one")
    named = ("--engine", "dbos", "--worker", "one")
    assert "another worker one uses" in refused(one.data, *named, **{URL: url})
    assert "a worker with the id 'one' is running" in refused(tmp_path / "elsewhere", *named, **{URL: url})
    assert one.get("/v1/health").json()["status"] == "ok"


def test_no_other_engine_uses_the_folder(worker: StartWorker) -> None:
    one = worker("one")
    assert "were made by the engine dbos on PostgreSQL" in refused(one.data)
    assert "were made by the engine dbos on PostgreSQL" in refused(one.data, "--engine", "dbos")


def test_a_wrong_password(postgres: Postgres, tmp_path: Path) -> None:
    guarded = postgres.guarded("guarded", PASSWORD)
    service = Worker("one", guarded, tmp_path / "data")
    assert service.stop() == 0
    wrong = guarded.replace(PASSWORD, f"{PASSWORD}-wrong")
    sentence = refused(tmp_path / "data", "--engine", "dbos", "--worker", "one", **{URL: wrong})
    assert "the database cannot be used" in sentence and "password authentication failed" in sentence
    assert "Traceback" not in sentence
    assert PASSWORD not in sentence and PASSWORD not in service.said()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--engine", "nothing"], "invalid choice"),
        (["--database-url", "postgresql://x"], "only used with --engine dbos"),
        (["--engine", "dbos", "--database-url", "sqlite:///x"], "begins with postgresql://"),
        (["--engine", "dbos", "--worker", "one"], "set its URL too"),
        (["--worker", "one"], "set its URL too"),
        (["--engine", "dbos", "--database-url", "postgresql://x", "--worker", "../one"], "a worker's name has"),
        (["--engine", "dbos", "--database-url", "postgresql://u@127.0.0.1:1/x"], "the database cannot be used"),
        (["--engine", "dbos", "--database-url", "postgresql://u:p@:x/["], "URL cannot be read"),
    ],
)
def test_what_does_not_go_together(tmp_path: Path, options: list[str], sentence: str) -> None:
    said = refused(tmp_path, *options)
    assert sentence in said and "Traceback" not in said


def test_a_database_without_its_engine(tmp_path: Path) -> None:
    assert "only used with --engine dbos" in refused(tmp_path, **{URL: "postgresql://x"})


def test_a_table_that_would_show_the_database(tmp_path: Path) -> None:
    table = '{"engines": {"a": {"first": ["true"], "inherit": ["TURNLATCH_DATABASE_URL"]}}}'
    (tmp_path / "engines.json").write_text(table)
    assert f"inherit cannot have {URL}" in refused(tmp_path / "data", "--engines", str(tmp_path / "engines.json"))
