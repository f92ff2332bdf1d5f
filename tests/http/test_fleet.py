"""Several services on one PostgreSQL database and one data folder: any of them answers for any run."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from postgres import Postgres
from way import Way

from running import DATABASE_URL, SKILLS, RunningService, ServerSentEvent, agents_of, refused_start, until

RETRY = {"interrupted_turn": "retry"}
PASSWORD = "s3cret-p4ss"


class Worker(RunningService):
    """A service with a name; its log is its own."""

    def __init__(self, name: str, url: str, data: Path, *options: str) -> None:
        self._name = name
        options = ("--slots", "3", "--worker", name, *options)
        super().__init__("python-dbos", data, *options, environment={DATABASE_URL: url})

    def start(self) -> None:
        """Starts the process and waits until it listens."""
        self.log_file = self.data.with_suffix(f".{self._name}.log")
        super().start()


class Fleet:
    """Services that share a database and a data folder."""

    def __init__(self, url: str, data: Path) -> None:
        self.url = url
        self.data = data
        self.workers: list[Worker] = []

    def start(self, name: str, *options: str) -> Worker:
        self.workers.append(Worker(name, self.url, self.data, *options))
        return self.workers[-1]


@contextmanager
def fleet(url: str, data: Path) -> Generator[Fleet, None, None]:
    """Workers when they are asked for, and their end."""
    made = Fleet(url, data)
    try:
        yield made
    finally:
        for running in made.workers:
            if running.process.poll() is None:
                assert running.stop() == 0
    for running in made.workers:
        assert not running.errors(), running.said()


@pytest.fixture(scope="module")
def pair(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Worker]]:
    """Two services that tests share: each makes runs of its own, and leaves no slot in use."""
    with fleet(postgres.database(), tmp_path_factory.mktemp("pair") / "data") as made:
        yield [made.start("one"), made.start("two")]


def go(service: RunningService, run_id: str, gate: str = "go") -> None:
    """Lets the agent of a `gated` run go on."""
    (service.data / "runs" / run_id / "work" / gate).touch()


def interrupted_turn(service: RunningService) -> str:
    """A run whose agent is at work at the only service that there is."""
    run_id = service.create("gated", execution_mode="interactive", runtime_options=RETRY)
    service.wait(run_id, "running")
    until(lambda: agents_of(service, run_id))
    return run_id


def taken_over(service: RunningService, run_id: str) -> None:
    """Waits until the service has the turn that another one had begun, and lets its agent go on."""
    with service.steps(run_id, 2) as steps:
        assert [next(steps).data["event"] for _ in range(2)] == ["process_lost", "slot_granted"]
    until(lambda: len(agents_of(service, run_id)) == 1)
    go(service, run_id)
    assert service.wait(run_id, "waiting_user")["attempt_number"] == 1


def test_a_run_is_everybodys(pair: list[Worker]) -> None:
    one, two = pair
    run_id = one.create("gated", execution_mode="interactive")
    one.wait(run_id, "running")
    with two.steps(run_id) as seen:
        assert [next(seen).data["event"] for _ in range(2)] == ["created", "slot_granted"]
        go(one, run_id)
        assert next(seen).data["status"] == "waiting_user"
        assert two.reply(run_id, 1, "b.txt").json()["kind"] == "accepted"
        assert one.reply(run_id, 1, "c.txt").json()["error"]["code"] == "STALE_INTERACTION"
        go(one, run_id, "go-on")
        assert [step.id for step in seen] == ["4", "5", "6", ""]
    assert one.view(run_id)["data"] == {"file": "b.txt"}
    for path in ("", "/interaction/history", "/explanation", "/snapshot", "/record", "/events"):
        assert one.get(f"/v1/jobs/{run_id}{path}").text == two.get(f"/v1/jobs/{run_id}{path}").text
    newest = two.get("/v1/jobs?limit=1").json()["jobs"][0]
    assert (newest["skill"], newest["view"]["run_id"]) == ("gated", run_id)
    assert one.get("/v1/jobs").json() == two.get("/v1/jobs").json()


def test_health_is_that_of_all(pair: list[Worker]) -> None:
    one, two = pair
    unfinished = one.get("/v1/health").json()["unfinished"]
    runs = [one.create("gated") for _ in range(4)]
    until(lambda: len(one.held_slots()) == 3)
    healths = [service.get("/v1/health").json() for service in (one, two)]
    assert healths[0] == healths[1]
    slots = healths[0]["slots"]
    assert (slots["total"], len(slots["held"]), slots["waiting"]) == (3, 3, 1)
    assert healths[0]["unfinished"] == unfinished + 4
    for run_id in runs:
        assert two.post(f"/v1/jobs/{run_id}/cancel").status_code == 200
    until(lambda: not agents_of(one))
    until(lambda: two.get("/v1/health").json()["slots"] == {"total": 3, "held": [], "waiting": 0})


def test_one_is_killed_or_stopped_and_the_other_goes_on(postgres: Postgres, tmp_path: Path) -> None:
    with fleet(postgres.database(), tmp_path / "data") as made:
        one = made.start("one")
        of_one = interrupted_turn(one)
        two = made.start("two")
        waiting = two.create("ask-once", execution_mode="interactive")
        two.wait(waiting, "waiting_user")
        one.kill()
        assert two.reply(waiting, 1, "b.txt").json()["kind"] == "accepted", "nobody is needed for that"
        taken_over(two, of_one)
        assert two.wait(waiting)["data"] == {"file": "b.txt"}

        of_two = interrupted_turn(two)
        one.start()
        assert one.reply(of_one, 1, "c.txt").json()["kind"] == "accepted"
        go(one, of_one, "go-on")
        assert one.wait(of_one)["data"] == {"file": "c.txt"}
        assert two.stop() == 0
        taken_over(one, of_two)


def test_followers_at_any_service_miss_nothing(pair: list[Worker]) -> None:
    run_ids = [f"followed-{number}" for number in range(16)]

    def follow(service: RunningService) -> list[ServerSentEvent]:
        ended, seen = 0, []
        with service.events("/v1/events", 0) as changes:
            while ended < len(run_ids):
                seen.append(next(changes))
                ended += seen[-1].data["run_id"] in run_ids and seen[-1].data["revision"] == 6
        return seen

    def whole(number: int) -> None:
        here, there = pair[number % 2], pair[1 - number % 2]
        run_id = here.create("ask-once", run_id=run_ids[number], execution_mode="interactive")
        there.wait(run_id, "waiting_user")
        assert there.reply(run_id, 1, "b.txt").status_code == 200
        assert here.wait(run_id)["status"] == "succeeded"

    with ThreadPoolExecutor(12) as clients:
        followers = [clients.submit(follow, service) for service in pair * 2]
        list(clients.map(whole, range(len(run_ids))))
        seen = [follower.result() for follower in followers]
    assert all(other == seen[0] for other in seen), "in one order"
    assert [int(event.id) for event in seen[0]] == list(range(1, len(seen[0]) + 1))
    for run_id in run_ids:
        assert [event.data["revision"] for event in seen[0] if event.data["run_id"] == run_id] == [1, 2, 3, 4, 5, 6]


def test_one_id_at_two_services(pair: list[Worker]) -> None:
    skills = ["ask-once", "soft"]

    def create(number: int) -> tuple[int, str]:
        skill = skills[number % 2]
        body = {"skill": skill, "engine": "scripted", "execution_mode": "interactive", "run_id": "wanted-by-many"}
        told = pair[number // 2 % 2].post("/v1/jobs", body)
        assert told.status_code == 201 or told.json()["error"]["code"] == "RUN_EXISTS"
        return told.status_code, skill

    with ThreadPoolExecutor(12) as clients:
        told = list(clients.map(create, range(12)))
    assert Counter(status for status, _ in told) == {201: 1, 409: 11}
    [winner] = [skill for status, skill in told if status == 201]
    status = pair[0].wait("wanted-by-many", "waiting_user")["status"]
    assert status == {"ask-once": "waiting_user", "soft": "succeeded"}[winner], "its folder is the winner's too"


def test_a_silent_listener_delays_a_step_and_loses_none(postgres: Postgres, tmp_path: Path) -> None:
    url, way = postgres.database(), Way(postgres.port)
    # Changes are never announced to this service, and its connection stays open.
    way.silence(b"LISTEN turnlatch")
    with fleet(url, tmp_path / "data") as made, closing(way):
        one = made.start("one")
        made.url = way.url(url)
        deaf = made.start("two")
        run_id = one.create("gated", execution_mode="interactive")
        one.wait(run_id, "running")
        until(lambda: agents_of(one, run_id))
        with deaf.steps(run_id) as steps:
            assert [next(steps).data["event"] for _ in range(2)] == ["created", "slot_granted"]
            go(one, run_id)
            assert next(steps).data["status"] == "waiting_user"
        for service in (deaf, one):
            assert service.stop() == 0


def test_what_a_creation_left_that_was_cut_off_is_replaced(pair: list[Worker]) -> None:
    one = pair[0]
    left = one.data / "runs" / "left-over"
    (left / "skill").mkdir(parents=True)
    (left / "skill" / "SKILL.md").write_text("what another skill said")
    assert one.create("ask-once", run_id="left-over", execution_mode="interactive") == "left-over"
    one.wait("left-over", "waiting_user")
    assert "another skill" not in (left / "skill" / "SKILL.md").read_text()
    assert not [folder for folder in left.parent.iterdir() if folder.name.startswith("~")]


def test_agents_never_see_the_database(pair: list[Worker]) -> None:
    one = pair[0]
    run_id = one.create("artifact", engine="environment")
    one.wait(run_id)
    environment = one.get(f"/v1/jobs/{run_id}/record").text
    assert "ANSWER=42" in environment
    assert "postgresql:" not in environment and DATABASE_URL not in environment


def test_nobody_else_uses_a_name_or_the_folder(pair: list[Worker], tmp_path: Path) -> None:
    one, url = pair[0], {DATABASE_URL: pair[0].environment[DATABASE_URL]}
    named = ("--worker", "one")
    assert "another worker one uses" in refused_start("python-dbos", one.data, *named, **url)
    taken = refused_start("python-dbos", tmp_path / "elsewhere", *named, **url)
    assert "a worker with the id 'one' is running" in taken
    for kind in ("python", "python-dbos"):
        assert "were made by the engine dbos on PostgreSQL" in refused_start(kind, one.data)
    assert one.get("/v1/health").json()["status"] == "ok"


def test_a_wrong_password(postgres: Postgres, tmp_path: Path) -> None:
    guarded = postgres.guarded("guarded", PASSWORD)
    service = Worker("one", guarded, tmp_path / "data")
    assert service.stop() == 0
    wrong = guarded.replace(PASSWORD, f"{PASSWORD}-wrong")
    sentence = refused_start("python-dbos", tmp_path / "data", "--worker", "one", **{DATABASE_URL: wrong})
    assert "the database cannot be used" in sentence and "password authentication failed" in sentence
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
    assert sentence in refused_start("python", tmp_path, *options)


def test_a_database_without_its_engine(tmp_path: Path) -> None:
    assert "only used with --engine dbos" in refused_start("python", tmp_path, **{DATABASE_URL: "postgresql://x"})


def test_a_table_that_would_show_the_database(tmp_path: Path) -> None:
    table = '{"engines": {"a": {"first": ["true"], "inherit": ["TURNLATCH_DATABASE_URL"]}}}'
    (tmp_path / "engines.json").write_text(table)
    said = refused_start("python", tmp_path / "data", "--engines", str(tmp_path / "engines.json"))
    assert f"inherit cannot have {DATABASE_URL}" in said


def test_no_transaction_is_open_while_a_skill_is_copied(postgres: Postgres, tmp_path: Path) -> None:
    shutil.copytree(SKILLS / "ask-once", tmp_path / "skills" / "ask-once")
    for number in range(5_000):
        (tmp_path / "skills" / "ask-once" / f"{number}.txt").touch()
    url, runs = postgres.database(), tmp_path / "data" / "runs"
    waiting = "SELECT pid, xact_start FROM pg_stat_activity WHERE state = 'idle in transaction'"
    samples = []
    with fleet(url, tmp_path / "data") as made, psycopg.connect(url, autocommit=True) as db:
        service = made.start("one", "--skills", str(tmp_path / "skills"))
        with ThreadPoolExecutor() as threads:
            creation = threads.submit(service.create, "ask-once", execution_mode="interactive")
            while not creation.done():
                found = set(db.execute(waiting).fetchall())
                # It is filled under a name that no run can have, until the transaction puts it into its place.
                if list(runs.glob("~*")):
                    samples.append(found)
        service.wait(creation.result(), "waiting_user")
    assert len(samples) >= 5, "the copy takes long enough to be seen"
    assert not set.intersection(*samples), "a session that was in one transaction all the time"
