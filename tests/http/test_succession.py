"""One kind of service goes on with the data folder of another, killed at its work: nothing shows that it is another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from running import RunningService, agents_of, processes_of, refused_start, until

RETRY = {"interrupted_turn": "retry"}
DEADLINE = {"interactive_require_user_reply": False, "session_timeout_sec": 900}
VIEWS = ("", "/interaction/pending", "/interaction/history", "/explanation", "/snapshot", "/record")


@pytest.fixture
def service(predecessor: str, tmp_path: Path) -> Iterator[RunningService]:
    """A service of the first kind; `succeed` lets another kind take its place."""
    running = RunningService(predecessor, tmp_path / "data", "--slots", "2")
    yield running
    if running.process.poll() is None:
        running.kill()
    assert not running.errors(), running.said()


def succeed(service: RunningService, successor: str) -> None:
    service.kill()
    service.kind = successor
    service.start()


def seen(service: RunningService, *run_ids: str) -> dict[str, Any]:
    """Every text that a client can get of these runs, which are the oldest, and the end of the list."""
    paths = [f"/v1/jobs/{run_id}{view}" for run_id in run_ids for view in VIEWS]
    texts: dict[str, Any] = {path: service.get(path).text for path in paths}
    return {**texts, "list": service.get("/v1/jobs").json()["jobs"][-len(run_ids) :]}


def test_everything_goes_on(service: RunningService, successor: str) -> None:
    waiting = service.create("ask-twice", execution_mode="interactive", runtime_options=DEADLINE)
    asked = service.wait(waiting, "waiting_user")
    done = service.create("direct", input={"1": 1.0, "0": 9007199254740993})
    service.wait(done)
    failed = service.create("no-artifact")
    service.wait(failed)
    assert "another service uses" in refused_start(successor, service.data), "one at a time"
    before = seen(service, waiting, done, failed)
    # With both slots in use, nothing else begins before the service is killed.
    retried = service.create("gated", execution_mode="interactive", runtime_options=RETRY)
    lost = service.create("gated")
    queued = [service.create("direct") for _ in range(2)]
    for run_id in (retried, lost):
        service.wait(run_id, "running")
    until(lambda: agents_of(service, retried) and agents_of(service, lost))
    jobs = service.get("/v1/jobs").json()["jobs"]
    succeed(service, successor)

    # The answer comes when the service has waited for what its predecessor left.
    assert processes_of(service, lost) == []
    assert service.wait(lost)["error"]["code"] == "ORCHESTRATOR_RESTART_INTERRUPTED", "it must not be run again"
    assert seen(service, waiting, done, failed) == before
    assert [job["skill"] for job in service.get("/v1/jobs").json()["jobs"]] == [job["skill"] for job in jobs]
    service.wait(retried, "running")
    (service.data / "runs" / retried / "work/go").touch()
    assert service.wait(retried, "waiting_user")["attempt_number"] == 1
    assert {service.wait(run_id)["status"] for run_id in queued} == {"succeeded"}
    assert service.reply(waiting, 1, "b.txt").json()["kind"] == "accepted"
    second = service.wait(waiting, "waiting_user", after=asked["revision"])
    assert service.reply(waiting, 2, {"2": 1.0, "1": [9007199254740993]}).status_code == 200
    assert service.wait(waiting)["data"] == {"file": '{"2":1.0,"1":[9007199254740993]}'}
    with service.steps(waiting, second["revision"]) as steps:
        assert [step.id for step in steps] == [str(second["revision"] + n) for n in (1, 2, 3)] + [""]
