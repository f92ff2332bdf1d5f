"""One kind of service goes on with the data folder of another, killed at its work: nothing shows that it is another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from running import RunningService, processes_of, until

RETRY = {"interrupted_turn": "retry"}
DEADLINE = {"interactive_require_user_reply": False, "session_timeout_sec": 900}
VIEWS = ("", "/interaction/pending", "/interaction/history", "/explanation", "/snapshot", "/record")


@pytest.fixture
def service(predecessor: str, tmp_path: Path) -> Iterator[RunningService]:
    """A service of the first kind; `succeed` lets another kind take its place."""
    running = RunningService(predecessor, tmp_path / "data", "--slots", "1")
    yield running
    if running.process.poll() is None:
        running.kill()
    assert " ERROR " not in running.said(), running.said()


def succeed(service: RunningService, successor: str) -> None:
    service.kill()
    service.kind = successor
    service.start()


def seen(service: RunningService, *run_ids: str) -> dict[str, Any]:
    """Every text that a client can get of these runs, and the list of all."""
    texts = {
        path: service.get(path).text for run_id in run_ids for path in (f"/v1/jobs/{run_id}{view}" for view in VIEWS)
    }
    return {**texts, "list": service.get("/v1/jobs").text}


def test_everything_goes_on(service: RunningService, successor: str) -> None:
    waiting = service.create("ask-twice", execution_mode="interactive", runtime_options=DEADLINE)
    asked = service.wait(waiting, "waiting_user")
    done = service.create("direct", input={"1": 1.0, "0": 9007199254740993})
    service.wait(done)
    failed = service.create("no-artifact")
    service.wait(failed)
    before = seen(service, waiting, done, failed)
    succeed(service, successor)
    assert seen(service, waiting, done, failed) == before
    assert service.reply(waiting, 1, "b.txt").json()["receipt"] == "accepted"
    second = service.wait(waiting, "waiting_user", after=asked["revision"])
    assert service.reply(waiting, 2, {"2": 1.0, "1": [9007199254740993]}).status_code == 200
    assert service.wait(waiting)["data"] == {"file": '{"2":1.0,"1":[9007199254740993]}'}
    with service.steps(waiting, second["revision"]) as steps:
        assert [step.id for step in steps] == [str(second["revision"] + n) for n in (1, 2, 3)] + [""]


def test_an_interrupted_turn_and_those_behind_it(service: RunningService, successor: str) -> None:
    interrupted = service.create("gated", execution_mode="interactive", runtime_options=RETRY)
    queued = [service.create("direct") for _ in range(2)]
    service.wait(interrupted, "running")
    until(lambda: processes_of(service))
    succeed(service, successor)
    service.wait(interrupted, "running")
    (service.data / "runs" / interrupted / "work/go").touch()
    assert service.wait(interrupted, "waiting_user")["attempt_number"] == 1
    assert {service.wait(run_id)["status"] for run_id in queued} == {"succeeded"}


def test_a_turn_that_must_not_be_run_again(service: RunningService, successor: str) -> None:
    run_id = service.create("gated")
    service.wait(run_id, "running")
    until(lambda: processes_of(service))
    succeed(service, successor)
    # The answer comes when the service has waited for what its predecessor left.
    assert processes_of(service) == []
    assert service.wait(run_id)["error"]["code"] == "ORCHESTRATOR_RESTART_INTERRUPTED"


def test_two_kinds_do_not_share_a_folder(service: RunningService, successor: str) -> None:
    with pytest.raises(AssertionError, match="another service uses"):
        RunningService(successor, service.data)
    assert service.get("/v1/health").json()["status"] == "ok"
