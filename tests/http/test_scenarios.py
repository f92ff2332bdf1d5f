"""Every scenario of the job API's source document (J3), over HTTP. docs/traceability.md lists them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from running import ROOT, RunningService

pytestmark = pytest.mark.every_engine

_SHOWN: dict[str, str] = {}


def scenario(number: str, says: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Names the scenario that a test exercises."""

    def name(test: Callable[..., None]) -> Callable[..., None]:
        _SHOWN[number] = says
        test.__doc__ = f"{number}: {says}"
        return test

    return name


@scenario("J3-1", "No mode means auto")
def test_no_mode_means_auto(service: RunningService) -> None:
    run_id = service.create("ask-once")
    view = service.wait(run_id)
    assert view["execution_mode"] == "auto"
    assert (view["status"], view["error"]["code"]) == ("failed", "OUTPUT_MISSING"), "auto never waits"


@scenario("J3-2", "Mode interactive is taken when asked for")
def test_interactive_when_asked_for(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    view = service.wait(run_id, "waiting_user")
    assert (view["execution_mode"], view["status"]) == ("interactive", "waiting_user")


@scenario("J3-3", "A waiting run always has a question that can be answered")
def test_waiting_has_a_question(service: RunningService) -> None:
    for skill in ("ask-once", "plain-question"):
        run_id = service.create(skill, execution_mode="interactive")
        service.wait(run_id, "waiting_user")
        pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()
        assert (pending["status"], pending["pending"]["interaction_id"]) == ("waiting_user", 1)
        assert pending["pending"]["prompt"]
        assert service.reply(run_id, 1, "a.txt").status_code == 200


@scenario("J3-4", "kind is for display only")
def test_kind_is_for_display(service: RunningService) -> None:
    run_id = service.create("kinds", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert (pending["kind"], pending["required_fields"]) == ("fill_fields", ["name"])
    receipt = service.reply(run_id, 1, "no fields, just words")
    assert (receipt.status_code, receipt.json()["kind"]) == (200, "accepted")
    assert service.wait(run_id)["data"] == {"file": "no fields, just words"}


@scenario("J3-5", "A declared mode is admitted")
def test_declared_mode(service: RunningService) -> None:
    for mode in ("auto", "interactive"):
        assert service.post("/v1/jobs", job("ask-once", execution_mode=mode)).status_code == 201


@scenario("J3-6", "An undeclared mode is refused")
def test_undeclared_mode(service: RunningService) -> None:
    refused = service.post("/v1/jobs", job("direct", execution_mode="interactive"))
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "SKILL_EXECUTION_MODE_UNSUPPORTED"


@scenario("J3-7", "Strict is the default")
def test_strict_by_default(service: RunningService) -> None:
    options = {"session_timeout_sec": 1}
    run_id = service.create("ask-once", execution_mode="interactive", runtime_options=options)
    service.wait(run_id, "waiting_user")
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert "deadline_at" not in pending, "nothing but a reply or a cancel goes on"


@scenario("J3-8", "Strict can be switched off")
def test_strict_switched_off(service: RunningService) -> None:
    options = {"interactive_require_user_reply": False, "session_timeout_sec": 900}
    run_id = service.create("ask-once", execution_mode="interactive", runtime_options=options)
    service.wait(run_id, "waiting_user")
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert pending["deadline_at"] == pending["asked_at"] + 900_000


@scenario("J3-9", "A reply is free text")
def test_free_text(service: RunningService) -> None:
    answer = 'None of these, "thank you".\nRather: ünïcode 日本 \U0001f642 — and a \\ too'
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    assert service.reply(run_id, 1, answer).json()["kind"] == "accepted"
    assert service.wait(run_id)["data"] == {"file": answer}


@scenario("J3-10", "A user's reply is recorded as one")
def test_user_reply_is_recorded(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    service.reply(run_id, 1, "b.txt")
    body = service.get(f"/v1/jobs/{run_id}/interaction/history").json()
    assert body["run_id"] == run_id
    [record] = body["history"]
    assert (record["resolution_mode"], record["response"]) == ("user_reply", "b.txt")


@scenario("J3-11", "An automatic decision is recorded as one")
def test_auto_decision_is_recorded(service: RunningService) -> None:
    options = {"interactive_require_user_reply": False, "session_timeout_sec": 1}
    run_id = service.create("ask-once", execution_mode="interactive", runtime_options=options)
    view = service.wait(run_id)
    assert (view["status"], view["auto_decision_count"]) == ("succeeded", 1)
    [record] = service.get(f"/v1/jobs/{run_id}/interaction/history").json()["history"]
    assert record["resolution_mode"] == "auto_decide_timeout"
    late = service.reply(run_id, 1, "b.txt")
    assert (late.status_code, late.json()["error"]["code"]) == (409, "STALE_INTERACTION")
    assert late.json()["error"]["details"]["resolved"]["resolved_by"] == "auto_decision"


@scenario("J3-12", "An effective engine is admitted")
def test_effective_engine(service: RunningService) -> None:
    made = service.post("/v1/jobs", {"skill": "other-engine", "engine": "words"})
    assert (made.status_code, made.json()["engine"]) == (201, "words")


@scenario("J3-13", "An engine the skill excludes is refused")
def test_excluded_engine(service: RunningService) -> None:
    refused = service.post("/v1/jobs", job("unsupported-engine"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "SKILL_ENGINE_UNSUPPORTED")


@scenario("J3-14", "An engine the skill does not list is refused")
def test_unlisted_engine(service: RunningService) -> None:
    refused = service.post("/v1/jobs", job("other-engine"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "SKILL_ENGINE_UNSUPPORTED")
    [problem] = refused.json()["error"]["details"]["problems"]
    assert problem["details"]["effective"] == ["words"]


@scenario("J3-15", "Without ask_user the run waits all the same")
def test_without_ask_user(service: RunningService) -> None:
    run_id = service.create("plain-question", execution_mode="interactive")
    first = service.wait(run_id, "waiting_user")
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert (pending["kind"], pending["prompt"]) == ("open_text", "Which file do you mean?")
    service.reply(run_id, 1, "b.txt")
    second = service.wait(run_id, "waiting_user", after=first["revision"])
    assert second["pending_interaction_id"] == 2, "a broken question is one all the same"
    service.reply(run_id, 2, "c.txt")
    assert service.wait(run_id)["data"] == {"file": "c.txt"}


@scenario("J3-16", "Soft completion shows its warning")
def test_soft_completion(service: RunningService) -> None:
    view = service.wait(service.create("soft", execution_mode="interactive"))
    assert view["status"] == "succeeded"
    assert "INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER" in [note["code"] for note in view["warnings"]]


@scenario("J3-17", "Exceeded attempts show their code")
def test_exceeded_attempts(service: RunningService) -> None:
    run_id = service.create("never-done", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    service.reply(run_id, 1, "go on")
    view = service.wait(run_id)
    assert (view["status"], view["attempt_number"]) == ("failed", 2)
    assert view["error"]["code"] == "INTERACTIVE_MAX_ATTEMPT_EXCEEDED"


def test_every_scenario_is_exercised() -> None:
    table = (ROOT / "docs/traceability.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| (J3-\d+) \| ([^|]+?) \|", table, flags=re.MULTILINE))
    assert listed, "the table has the scenarios of the job API"
    assert listed == _SHOWN


def job(skill: str, **members: Any) -> dict[str, Any]:
    return {"skill": skill, "engine": "scripted", **members}
