"""What a client sees of skills, jobs, runs and the service itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import StartService
from running import HERE, SKILLS, RunningService, processes_of, until
from turnlatch import Run, import_run, replay

ENGINES = sorted(json.loads((HERE / "engines.json").read_text(encoding="utf-8"))["engines"])


def test_skills(service: RunningService) -> None:
    found = service.get("/v1/skills").json()
    assert found["engines"] == ENGINES
    names = [skill["name"] for skill in found["skills"]]
    assert names == sorted(path.name for path in SKILLS.iterdir())
    skills = {skill["name"]: skill for skill in found["skills"]}
    assert skills["never-done"] == {
        "name": "never-done",
        "description": "Never finishes.",
        "execution_modes": ["interactive"],
        "engines": ENGINES,
        "max_attempt": 2,
        "problems": [],
        "warnings": [],
    }
    assert "scripted" not in skills["unsupported-engine"]["engines"]
    assert {problem["code"] for problem in skills["broken"]["problems"]} == {"SKILL_MANIFEST_INVALID"}


@pytest.mark.every_engine
def test_a_new_job(service: RunningService) -> None:
    made = service.post("/v1/jobs", {"skill": "ask-once", "engine": "scripted", "run_id": "my-own.id:1"})
    assert (made.status_code, made.headers["location"]) == (201, "/v1/jobs/my-own.id:1")
    view = made.json()
    assert (view["run_id"], view["status"], view["revision"]) == ("my-own.id:1", "queued", 1)
    assert made.text == json.dumps(view, ensure_ascii=False, separators=(",", ":")), "compact, and in the core's order"
    again = service.post(
        "/v1/jobs", {"skill": "soft", "engine": "scripted", "execution_mode": "interactive", "run_id": "my-own.id:1"}
    )
    assert (again.status_code, again.json()["error"]["code"]) == (409, "RUN_EXISTS")


def test_the_agent_is_told_everything(service: RunningService) -> None:
    """The `words` engine prints what it is told."""
    run_id = service.create("input", engine="words", input={"path": "ü.txt"}, parameter={"depth": 3})
    service.wait(run_id)
    record = service.get(f"/v1/jobs/{run_id}/record")
    assert record.headers["content-disposition"] == f'attachment; filename="{run_id}.record.json"'
    for told in ("Wants an input and a parameter.", "## Input", "ü.txt", "## Parameter", "__SKILL_DONE__"):
        assert told in record.text


@pytest.mark.every_engine
def test_results_and_failures(service: RunningService) -> None:
    expected = {
        "direct": None,
        "artifact": None,
        "no-artifact": "ARTIFACT_MISSING",
        "crashing": "PROCESS_FAILED",
    }
    for skill, code in expected.items():
        view = service.wait(service.create(skill))
        assert view.get("error", {}).get("code") == code, view
        assert view["status"] == ("succeeded" if code is None else "failed")
    slow = service.wait(service.create("direct", engine="impatient"))
    assert slow["error"]["code"] == "TIMEOUT"


@pytest.mark.every_engine
def test_history_explanation_and_snapshot(service: RunningService) -> None:
    run_id = service.create("ask-twice", execution_mode="interactive")
    first = service.wait(run_id, "waiting_user")
    service.reply(run_id, 1, "b.txt")
    service.wait(run_id, "waiting_user", after=first["revision"])
    service.reply(run_id, 2, "7")
    assert service.wait(run_id)["data"] == {"file": "7"}
    history = service.get(f"/v1/jobs/{run_id}/interaction/history").json()["history"]
    assert [(one["prompt"], one["response"]) for one in history] == [
        ("Which file?", "b.txt"),
        ("And which line of b.txt?", "7"),
    ]
    explanation = service.get(f"/v1/jobs/{run_id}/explanation").json()
    assert (explanation["decision"]["rule"], explanation["decision"]["outcome"]) == ("GATE-3", "succeeded")
    assert Run.from_json(service.get(f"/v1/jobs/{run_id}/snapshot").text).ended
    plan, journal = import_run(service.get(f"/v1/jobs/{run_id}/record").text)
    assert replay(plan, journal)[0].status_view_json() == service.get(f"/v1/jobs/{run_id}").text
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()
    assert pending == {"run_id": run_id, "status": "succeeded", "pending": None}


@pytest.mark.every_engine
def test_the_list_of_jobs(start_service: StartService) -> None:
    service = start_service("--slots", "1")
    assert service.get("/v1/jobs").json() == {"jobs": [], "next": None}
    asking = [service.create("ask-once", execution_mode="interactive", run_id=f"ask-{n}") for n in range(5)]
    done = [service.create("direct", run_id=f"done-{n}") for n in range(3)]
    words = service.create("other-engine", engine="words", run_id="words")
    for run_id in asking:
        service.wait(run_id, "waiting_user")
    for run_id in (*done, words):
        service.wait(run_id)

    def listed(query: str) -> list[str]:
        return [job["view"]["run_id"] for job in service.get(f"/v1/jobs?{query}").json()["jobs"]]

    newest_first = [words, *reversed(done), *reversed(asking)]
    assert listed("") == newest_first
    assert listed("skill=direct") == listed("status=succeeded") == list(reversed(done))
    assert listed("status=waiting_user,failed") == [words, *reversed(asking)]
    assert listed("engine=words") == listed("skill=other-engine&status=failed&engine=words") == [words]
    assert listed("engine=nothing") == listed("status=queued") == []
    pages, before = [], ""
    while True:
        page = service.get(f"/v1/jobs?limit=2&{before}").json()
        pages.append([job["view"]["run_id"] for job in page["jobs"]])
        if page["next"] is None:
            break
        assert page["next"] == pages[-1][-1]
        before = f"before={page['next']}"
    assert pages == [newest_first[n : n + 2] for n in range(0, 9, 2)]
    assert service.get("/v1/jobs?limit=9").json()["next"] is None
    job = service.get("/v1/jobs?skill=direct&limit=1").json()["jobs"][0]
    view = service.view(done[-1])
    assert job == {"skill": "direct", "view": {key: view[key] for key in view if key not in ("data", "data_text")}}


@pytest.mark.every_engine
def test_cancel_while_running(service: RunningService) -> None:
    run_id = service.create("gated", run_id="canceled-run")
    service.wait(run_id, "running")
    receipt = service.post(f"/v1/jobs/{run_id}/cancel", {"reason": "changed my mind"})
    assert (receipt.status_code, receipt.json()["kind"]) == (200, "canceled")
    view = service.view(run_id)
    assert (view["status"], view["error"]["code"]) == ("canceled", "CANCELED_BY_USER")
    until(lambda: f"{run_id}/s1" not in service.held_slots())
    assert [command for command in processes_of(service) if run_id in command] == []


@pytest.mark.every_engine
def test_one_slot_for_all(start_service: StartService) -> None:
    """Who has it, who waits for it, and what a cancel does to those who do not have it."""
    service = start_service("--slots", "1")
    waiting = service.create("ask-once", execution_mode="interactive")
    service.wait(waiting, "waiting_user")
    first, second = service.create("gated", run_id="first"), service.create("gated", run_id="second")
    service.wait(first, "running")
    health = service.get("/v1/health").json()
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", health.pop("version"))
    assert health == {"status": "ok", "slots": {"total": 1, "held": ["first/s1"], "waiting": 1}, "unfinished": 3}
    assert service.view(second)["status"] == "queued"
    (service.data / "runs/first/work/go").touch()
    service.wait(first)
    service.wait(second, "running")
    assert service.get("/v1/health").json()["slots"] == {"total": 1, "held": ["second/s1"], "waiting": 0}

    queued = service.create("gated")
    for run_id in (waiting, queued):
        assert service.post(f"/v1/jobs/{run_id}/cancel").json()["kind"] == "canceled"
        assert service.view(run_id)["status"] == "canceled"
    [record] = service.get(f"/v1/jobs/{waiting}/interaction/history").json()["history"]
    assert record["resolution_mode"] == "canceled"
    assert service.get("/v1/health").json()["slots"]["waiting"] == 0


def test_skills_as_they_are_written(start_service: StartService, tmp_path: Path) -> None:
    """Where a description can stand, and that a run keeps the skill that it began with."""
    skills = tmp_path / "skills"
    texts = {
        "block": ("---\nname: x\ndescription: >-\n  Two lines\n  of words.\nother: y\n---\n", "Two lines of words."),
        "changing": ("Version one", ""),
        "none": ("# No front matter\ndescription: no\n", ""),
        "open": ("---\ndescription: never closed\n", ""),
        "quoted": ('---\r\ndescription: "It\'s: quoted"\r\n---\r\n', "It's: quoted"),
    }
    for name, (text, _) in texts.items():
        (skills / name).mkdir(parents=True)
        (skills / name / "SKILL.md").write_text(text, newline="")
        (skills / name / "runner.json").write_text('{"execution_modes": ["interactive"]}')
    script = '{"turns": [[{"say": "Which?"}], [{"say": {"version": "%s", "__SKILL_DONE__": true}}]]}'
    (skills / "changing/script.json").write_text(script % "one")
    service = start_service("--skills", str(skills), data=tmp_path / "the data")
    found = {skill["name"]: skill["description"] for skill in service.get("/v1/skills").json()["skills"]}
    assert found == {name: description for name, (_, description) in texts.items()}

    run_id = service.create("changing", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    (skills / "changing/script.json").write_text(script % "two")
    service.reply(run_id, 1, "go on")
    assert service.wait(run_id)["data"] == {"version": "one"}
