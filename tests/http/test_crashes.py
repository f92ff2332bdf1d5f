"""SIGKILL at any moment loses nothing that was answered; SIGTERM is gentle; the next start goes on."""

from __future__ import annotations

import pytest

from conftest import StartService
from running import RunningService, agents_of, processes_of, until

pytestmark = pytest.mark.every_engine

INTERACTIVE = {"execution_mode": "interactive"}
RETRY = {"interrupted_turn": "retry"}
FAIL = {"interrupted_turn": "fail"}


def deciding_after(seconds: int) -> dict[str, object]:
    """The options of a run that goes on by itself if nobody answers."""
    return {"interactive_require_user_reply": False, "session_timeout_sec": seconds}


def go(service: RunningService, run_id: str, gate: str = "go") -> None:
    """Lets the agent of a `gated` run go on."""
    (service.data / "runs" / run_id / "work" / gate).touch()


def end(service: RunningService, how: str) -> None:
    if how == "kill":
        service.kill()
    else:
        assert service.stop() == 0


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_everything_goes_on(start_service: StartService, how: str) -> None:
    """Runs in every status at once, with every slot in use: each goes on from where it was."""
    service = start_service("--slots", "4")
    waiting = service.create("ask-once", **INTERACTIVE, runtime_options=deciding_after(900))
    resumed = service.create("gated", **INTERACTIVE, runtime_options=RETRY)
    go(service, resumed)
    asked = service.wait(resumed, "waiting_user")
    service.reply(resumed, 1, "b.txt")
    failing = service.create("gated", **INTERACTIVE, runtime_options=FAIL)
    retried = service.create("gated", **INTERACTIVE, runtime_options=RETRY)
    before = service.wait(waiting, "waiting_user")
    pending = service.get(f"/v1/jobs/{waiting}/interaction/pending").text
    overdue = service.create("ask-once", **INTERACTIVE, runtime_options=deciding_after(2))
    service.wait(overdue, "waiting_user")
    blocking = service.create("gated", runtime_options=RETRY)
    queued = [service.create("direct") for _ in range(3)]
    service.wait(resumed, "running", after=asked["revision"])
    for run_id in (failing, retried, blocking):
        service.wait(run_id, "running")
    assert [service.view(run_id)["status"] for run_id in queued] == ["queued"] * 3
    end(service, how)
    service.start()

    assert service.view(waiting) == before, "it waits on"
    assert service.get(f"/v1/jobs/{waiting}/interaction/pending").text == pending, "with its deadline"
    view = service.wait(failing)
    assert (view["status"], view["error"]["code"]) == ("failed", "ORCHESTRATOR_RESTART_INTERRUPTED")
    assert processes_of(service, failing) == []
    for run_id in (retried, blocking):
        go(service, run_id)
    view = service.wait(retried, "waiting_user")
    assert (view["status"], view["attempt_number"]) == ("waiting_user", 1), "the same attempt was run again"
    go(service, resumed, "go-on")
    view = service.wait(resumed)
    assert (view["status"], view["data"], view["attempt_number"]) == ("succeeded", {"file": "b.txt"}, 2)
    assert {service.wait(run_id)["status"] for run_id in queued} == {"succeeded"}
    view = service.wait(overdue)
    assert (view["status"], view["auto_decision_count"]) == ("succeeded", 1), "its deadline passed meanwhile"
    assert service.reply(waiting, 1, "b.txt").json()["kind"] == "accepted"
    assert service.wait(waiting)["data"] == {"file": "b.txt"}


def test_nothing_that_was_answered_is_lost(start_service: StartService) -> None:
    """Killed right after the receipt of a reply or of a job, again and again, at whatever the service is doing then."""
    service = start_service("--slots", "1")
    made: list[str] = []
    for number in range(4):
        asking = service.create("ask-once", **INTERACTIVE, runtime_options=RETRY)
        service.wait(asking, "waiting_user")

        def reply(run_id: str = asking, answer: str = f"answer {number}") -> None:
            assert service.reply(run_id, 1, answer).json()["kind"] == "accepted"

        def create() -> None:
            made.append(service.create("direct", runtime_options=RETRY))

        for ask in (reply, create) if number % 2 else (create, reply):
            ask()
        service.kill()
        service.start()
        assert service.wait(asking)["data"] == {"file": f"answer {number}"}
    assert {service.wait(run_id)["status"] for run_id in made} == {"succeeded"}
    listed = [job["view"]["run_id"] for job in service.get("/v1/jobs?skill=direct").json()["jobs"]]
    assert listed == made[::-1]


def test_a_job_that_never_became_a_run_does_not_count(service: RunningService) -> None:
    """Killed between noting the job and making the run: the id is free, and the list does not know it."""
    service.tamper("INSERT INTO {}jobs VALUES ('half-made', 'soft')")
    leftover = service.data / "runs/half-made/skill/old.txt"
    leftover.parent.mkdir(parents=True)
    leftover.touch()

    def newest() -> list[tuple[str, str]]:
        jobs = service.get("/v1/jobs?limit=1").json()["jobs"]
        return [(job["view"]["run_id"], job["skill"]) for job in jobs]

    assert newest() != [("half-made", "soft")]
    assert service.get("/v1/jobs/half-made").json()["error"]["code"] == "RUN_UNKNOWN"
    service.create("ask-once", run_id="half-made")
    assert newest() == [("half-made", "ask-once")]
    assert not leftover.exists()


def test_a_damaged_run_does_not_keep_the_others_from_going_on(start_service: StartService) -> None:
    """Nor the streams, which go on where they were."""
    service = start_service()
    damaged, well = (service.create("ask-once", **INTERACTIVE) for _ in range(2))
    for run_id in (damaged, well):
        service.wait(run_id, "waiting_user")
    with service.events("/v1/events", 0) as changes:
        last_change = [next(changes) for _ in range(6)][-1].id
    service.kill()
    service.tamper("UPDATE {}runs SET snapshot = replace(snapshot, 'Which', 'What') WHERE run_id = ?", damaged)
    service.start()
    with service.steps(well, 3) as steps, service.events("/v1/events", int(last_change)) as changes:
        service.reply(well, 1, "b.txt")
        assert [event.id for event in steps] == ["4", "5", "6", ""]
        assert [next(changes).data for _ in range(3)] == [{"run_id": well, "revision": n} for n in (4, 5, 6)]
    assert service.view(well)["status"] == "succeeded"
    assert [job["view"]["run_id"] for job in service.get("/v1/jobs").json()["jobs"]] == [well]
    told = service.get(f"/v1/jobs/{damaged}")
    assert (told.status_code, told.json()["error"]["code"]) == (422, "SNAPSHOT_INVALID")


def test_no_agent_outlives_its_service(start_service: StartService) -> None:
    """While the agents are being ended, the service still answers, but takes nothing new."""
    service = start_service("--slots", "3")
    deaf = service.create("stubborn", engine="deaf")
    runs = [deaf, *(service.create("gated") for _ in range(2))]
    for run_id in runs:
        service.wait(run_id, "running")
    # A run is running from the moment it has its slot; its process takes a moment more.
    until((service.data / "runs" / deaf / "work/deaf").exists)
    until(lambda: all(agents_of(service, run_id) for run_id in runs))
    service.process.terminate()
    until(lambda: service.get("/v1/health").json()["status"] == "stopping")
    refused = service.post("/v1/jobs", {"skill": "direct", "engine": "scripted"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "SERVICE_STOPPING")
    assert service.process.wait(60) == 0
    assert processes_of(service) == [], "a gentle end waits for them"
    service.start()
    assert service.wait(deaf)["error"]["code"] == "ORCHESTRATOR_RESTART_INTERRUPTED"
    again = service.create("gated")
    service.wait(again, "running")
    until(lambda: agents_of(service))
    service.kill()
    until(lambda: not processes_of(service))
