"""What type checkers must accept: nothing here runs. ``assert_never`` proves that every case is there."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from typing import Literal

from pydantic import BaseModel

from turnlatch import (
    AdmissionError,
    Command,
    Driver,
    EventRejectedError,
    Journal,
    Plan,
    Replayer,
    Run,
    Skill,
    StreamDecoder,
    SubprocessRunner,
    Transition,
    admit,
    codes,
    decode_stream,
    evaluate_turn,
    replay,
    types,
)

if sys.version_info >= (3, 11):
    from typing import assert_never, assert_type
else:
    from typing_extensions import assert_never, assert_type


def every_effect(effect: types.Effect) -> str:
    match effect["type"]:
        case "acquire_slot" | "release_slot":
            return effect["slot_id"]
        case "start_turn":
            resume = effect.get("resume")
            return effect["slot_id"] if resume is None else resume["response"]
        case "inject_reply":
            return effect["response"]
        case "terminate_process":
            return f"{effect['attempt_number']} {effect['slot_id']}"
        case "set_timer":
            assert_type(effect["at"], int)
            return str(effect["interaction_id"])
        case "cancel_timer":
            return str(effect["interaction_id"])
        case "notify":
            assert_type(effect["status"], types.Status)
            return effect["status"]
        case _:
            assert_never(effect["type"])


def every_effect_by_if(effect: types.Effect) -> str:
    if effect["type"] == "acquire_slot":
        assert_type(effect, types.AcquireSlot)
    elif effect["type"] == "release_slot":
        assert_type(effect, types.ReleaseSlot)
    elif effect["type"] == "start_turn":
        assert_type(effect, types.StartTurn)
    elif effect["type"] == "inject_reply":
        assert_type(effect, types.InjectReply)
    elif effect["type"] == "terminate_process":
        assert_type(effect, types.TerminateProcess)
    elif effect["type"] == "set_timer":
        assert_type(effect, types.SetTimer)
    elif effect["type"] == "cancel_timer":
        assert_type(effect, types.CancelTimer)
    elif effect["type"] == "notify":
        assert_type(effect, types.Notify)
    else:
        assert_never(effect)
    return effect["id"]


def every_event(event: types.RunEvent) -> str | int:
    match event["type"]:
        case "slot_granted":
            return event["slot_id"]
        case "turn_finished":
            return event["attempt_number"]
        case "reply":
            return event.get("idempotency_key", "")
        case "timer_fired":
            return event["interaction_id"]
        case "process_lost":
            return event.get("slot_id", "")
        case "cancel":
            return event.get("reason", "")
        case _:
            assert_never(event["type"])


def every_status(run: Run) -> int:
    match run.status:
        case "queued" | "running" | "waiting_user":
            return 0
        case "succeeded" | "failed" | "canceled":
            return 1
        case _:
            assert_never(run.status)


def every_outcome(plan: Plan) -> Literal["good", "bad", "open"]:
    decision = evaluate_turn(plan, {"text": "x", "exit_code": 0})["decision"]
    outcome = decision["outcome"]
    match outcome:
        case "succeeded":
            return "good"
        case "failed":
            return "bad"
        case "waiting_user":
            return "open"
        case _:
            assert_never(outcome)


def a_whole_run() -> None:
    try:
        plan = admit(Skill({}, output_schema=True), {"run_id": "r1", "engine": "codex"}, engines=("codex",))
    except AdmissionError as refused:
        print(refused.code, refused.message, refused.details)
        return
    run, created = Run.create(plan, datetime.now(timezone.utc))
    assert_type(run, Run)
    assert_type(created, Transition)
    assert_type(created.effects, list[types.Effect])
    journal = Journal(plan)
    if created.entry is not None:
        journal.push(created.entry.compact())
    try:
        run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 1)
        run.apply(
            {"type": "turn_finished", "attempt_number": 1, "messages": [{"role": "assistant", "text": "?"}]},
            2,
        )
    except EventRejectedError as rejected:
        print(rejected.code)
    receipt = run.reply(1, {"any": ["data"]}, 3, idempotency_key="k", expected_revision=3).receipt
    if receipt is not None and receipt["kind"] == "stale":
        assert_type(receipt["resolved"]["resolved_at"], int)
    pending = run.pending_view()["pending"]
    if pending is not None:
        print(pending["display_prompt"], [option["label"] for option in pending["options"]])
    again, effects = replay(plan, journal)
    assert_type(again, Run)
    assert_type(effects, list[list[types.Effect]])
    assert_type(run.outstanding()["effects"], list[types.Effect])
    assert_type(run.status_view().get("data_text"), str | None)
    assert_type(codes()[0]["http"], int)


def what_must_not_pass(run: Run, plan: Plan) -> None:
    """mypy warns of an ignore that is not needed, so each of these is known to be found."""
    run.apply({"type": "slot_granted"}, 1)  # type: ignore[typeddict-item]
    run.apply({"type": "slot_grantd", "slot_id": "s"}, 1)  # type: ignore[typeddict-item]
    run.apply({"type": "cancel", "slot_id": "s"}, 1)  # type: ignore[typeddict-item]
    run.apply({"type": "cancel"}, 1.5)  # type: ignore[arg-type]
    run.why_not("done")  # type: ignore[arg-type]
    evaluate_turn(plan, {"txt": "x"})  # type: ignore[arg-type]
    evaluate_turn(plan, {"text": "x", "output": {}})  # type: ignore[arg-type,misc]
    evaluate_turn(plan, {"messages": [{"role": "asistant", "text": "x"}]})  # type: ignore[arg-type,misc]
    evaluate_turn(plan, {"stream": {"format": "text", "stdout": ""}, "exit_code": 0})  # type: ignore[arg-type,misc]


def skills_and_requests_that_must_not_pass(driver: Driver) -> None:
    Skill({"execution_mods": ["auto"]})  # type: ignore[arg-type]
    Skill({"execution_modes": ["automatic"]})  # type: ignore[arg-type]
    Skill({"max_atempt": 3})  # type: ignore[arg-type]
    admit(Skill({}), {"run_id": "r1"}, engines=["codex"])  # type: ignore[arg-type]
    admit(Skill({}), {"run_idd": "r1", "engine": "codex"}, engines=["codex"])  # type: ignore[arg-type]
    admit(Skill({}), {"run_id": "r1", "engine": "codex", "soft_completion": "maybe"}, engines=["codex"])  # type: ignore[arg-type]
    admit(Skill({}), {"run_id": "r1", "engine": "codex"}, engines=["codex"], limits={"option": 3})  # type: ignore[arg-type]
    driver.wait("r1", "waiting")  # type: ignore[arg-type,unused-coroutine]


def narrowed_views(view: types.StatusView) -> str:
    """The status says what there is; before, what may be absent is read by ``get``."""
    assert_type(view.get("error"), types.RunError | None)
    match view["status"]:
        case "failed" | "canceled":
            return view["error"]["code"]
        case "waiting_user":
            return str(view["pending_interaction_id"])
        case "succeeded":
            return view.get("data_text", "")
        case "queued" | "running":
            return ""
        case _:
            assert_never(view["status"])


def narrowed_by_if(receipt: types.Receipt, view: types.StatusView, request: types.AllowedRequest) -> None:
    if receipt["kind"] == "stale":
        assert_type(receipt["resolved"]["resolved_at"], int)
    elif receipt["kind"] == "accepted" or receipt["kind"] == "duplicate":
        assert_type(receipt["interaction_id"], int)
    elif receipt["kind"] == "already_ended":
        assert_type(receipt["code"], types.Code)
        print(receipt["code"] == "RUN_ALREADY_ENDDED")  # type: ignore[comparison-overlap]
    if view["status"] == "succeeded":
        assert_type(view, types.SucceededStatusView)
    elif view["status"] == "waiting_user":
        assert_type(view["pending_interaction_id"], int)
    if request["allowed"] is False:
        assert_type(request["code"], types.Code)
    elif request["request"] == "reply":
        assert_type(request["max_response_bytes"], int)


def every_check(check: types.Check) -> str | int | list[str] | None:
    if check["reason"] == "process_failed":
        assert_type(check, types.ProcessFailedCheck)
        return check["code"]
    if check["reason"] == "attempts_left" or check["reason"] == "attempts_exhausted":
        return check["max_attempt"] - check["attempt"]
    if check["reason"] == "artifacts_missing":
        return check["paths"]
    return check.get("interactions")


def streams(run: Run) -> None:
    stream: types.TurnStream = {"format": "codex-jsonl", "stdout": "", "exit_code": 0}
    run.apply({"type": "turn_finished", "attempt_number": 1, "stream": stream}, 1)
    assert_type(decode_stream(stream), types.Decoded)
    decoder = StreamDecoder("claude-stream-json", 1_000, sticky=True)
    assert_type(decoder.feed(b"")["pieces"], list[types.Piece])
    assert_type(decoder.prompt("go on"), str)
    assert_type(decoder.finish(exit_code=0).get("usage"), types.Usage | None)


def listening(said: types.Said) -> None:
    assert_type(said["pieces"][0]["text"], str)


def runner() -> SubprocessRunner:
    return SubprocessRunner(lambda run, effect: Command(["agent"], stream="ndjson"), on_said=listening)


class FileChoice(BaseModel):
    file: str


def a_result_has_the_type_of_the_skills_model(view: types.StatusView) -> str:
    skill = Skill({}, output=FileChoice)
    assert_type(skill, Skill[FileChoice])
    admit(skill, {"run_id": "r1", "engine": "codex"}, engines=["codex"])
    return skill.parse(view).file


def a_skill_without_a_model_needs_no_annotation() -> Plan:
    skill = Skill({}, {"type": "object"})
    return admit(skill, {"run_id": "r1", "engine": "codex"}, engines=["codex"])


def a_journal_is_replayed_line_by_line(plan: Plan, lines: list[str]) -> types.Status | None:
    replayer = Replayer(plan)
    for line in lines:
        assert_type(replayer.next(line), types.TimelineEntry)
    return None if replayer.run is None else replayer.run.status


def a_refusal_has_problems(error: AdmissionError) -> list[str]:
    return [f"{problem['path']}: {problem['message']}" for problem in error.problems]
