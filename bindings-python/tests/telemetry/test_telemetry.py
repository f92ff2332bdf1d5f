"""Metrics and spans of observations: the right numbers, bounded labels, and no word of a user or an agent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from turnlatch import EventRejectedError, Run, Skill, admit, types
from turnlatch.telemetry import Metrics, Traces, trace_id_of

SCHEMA = {"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}}}
DONE = '{"file": "b.txt", "__SKILL_DONE__": true}'
SECRET = 'SECRET"} 1\nturnlatch_forged_total 1\n\x00\x1b[31m\u202e'
START = 1_771_200_000_000
SKILL = Skill({"execution_modes": ["auto", "interactive"]}, output_schema=SCHEMA)

Observe = Callable[[Any], None]


def play(observe: Observe, run_id: str = "r1", reason: str | None = None) -> None:
    """A run that waits a quarter of a second for a slot, takes three, waits a minute for a person and ends."""
    request: types.RunRequest = {"run_id": run_id, "engine": "test", "execution_mode": "interactive"}
    run, created = Run.create(admit(SKILL, request, engines=["test"]), START)
    observe(created.observation)
    usage = {"input_tokens": 900, "output_tokens": 40, "cached_input_tokens": 100}
    steps: list[tuple[int, dict[str, Any]]] = [
        (250, {"type": "slot_granted", "slot_id": f"{run_id}/s1"}),
        (3250, {"type": "turn_finished", "attempt_number": 1, "text": SECRET, "usage": usage}),
        (3300, {"type": "reply", "interaction_id": 7, "response": SECRET}),
        (3300, {"type": SECRET}),
        (63250, {"type": "reply", "interaction_id": 1, "response": SECRET}),
        (63260, {"type": "slot_granted", "slot_id": f"{run_id}/s2"}),
        (65260, {"type": "turn_finished", "attempt_number": 2, "text": DONE}),
    ]
    if reason is not None:
        steps[-1][1]["failure_reason"] = reason
    for at, event in steps:
        try:
            observe(run.apply(event, START + at).observation)  # type: ignore[arg-type]
        except EventRejectedError as rejected:
            observe(rejected.observation)


def samples(registry: CollectorRegistry) -> dict[str, float]:
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            if not sample.name.endswith("_created"):
                labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
                found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


def test_metrics_of_a_run() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry, lambda: {"waiting_user": 3})
    play(metrics.observe)
    play(metrics.observe, "r2", reason="TIMEOUT")
    found = samples(registry)
    expected = {
        "turnlatch_runs{status=queued}": 0,
        "turnlatch_runs{status=waiting_user}": 3,
        "turnlatch_started_total{engine=test,execution_mode=interactive}": 2,
        "turnlatch_ended_total{code=,status=succeeded}": 1,
        "turnlatch_ended_total{code=TIMEOUT,status=failed}": 1,
        "turnlatch_decisions_total{outcome=waiting_user,rule=GATE-7}": 2,
        "turnlatch_decisions_total{outcome=succeeded,rule=GATE-3}": 1,
        "turnlatch_auto_decisions_total{}": 0,
        "turnlatch_refused_total{code=UNKNOWN_INTERACTION,event=reply}": 2,
        "turnlatch_refused_total{code=EVENT_MALFORMED,event=unknown}": 2,
        "turnlatch_tokens_total{engine=test,kind=cached_input}": 200,
        "turnlatch_slot_wait_seconds_sum{engine=test}": pytest.approx(0.52),
        "turnlatch_turn_seconds_sum{engine=test,status=waiting_user}": 6,
        "turnlatch_waiting_seconds_sum{resolution_mode=user_reply}": 120,
        "turnlatch_waiting_seconds_bucket{le=60.0,resolution_mode=user_reply}": 2,
        "turnlatch_waiting_seconds_bucket{le=10.0,resolution_mode=user_reply}": 0,
    }
    assert {name: found.get(name) for name in expected} == expected


def test_many_runs_and_many_reasons_make_no_more_series() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry, dict)
    play(metrics.observe, "r", reason="REASON")
    before = samples(registry).keys()
    for number in range(10_000):
        play(metrics.observe, f"r{number}", reason=f"REASON_{number}")
    assert samples(registry).keys() == before
    text = generate_latest(registry).decode()
    assert "SECRET" not in text and "forged" not in text and "REASON" not in text


def spans_of(work: Callable[[TracerProvider], None]) -> tuple[ReadableSpan, ...]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    work(provider)
    return exporter.get_finished_spans()


def test_spans_of_a_run() -> None:
    spans = spans_of(lambda provider: play(Traces(provider).observe, reason="TIMEOUT"))
    names = ["slot_wait", "turn", "waiting", "slot_wait", "turn"]
    assert [span.name for span in spans] == [f"turnlatch.{name}" for name in names]
    digest = hashlib.sha256(b"turnlatch trace r1").hexdigest()
    assert trace_id_of("r1") == digest[:32]
    for span in spans:
        assert span.context is not None and span.parent is not None
        assert f"{span.context.trace_id:032x}" == digest[:32]
        assert f"{span.parent.span_id:016x}" == digest[32:48]
    turn, last = spans[1], spans[4]
    assert (turn.start_time, turn.end_time) == ((START + 250) * 1_000_000, (START + 3250) * 1_000_000)
    assert dict(turn.attributes or {}) == {
        "turnlatch.run_id": "r1",
        "turnlatch.revision": 3,
        "turnlatch.event": "turn_finished",
        "turnlatch.by": "agent",
        "turnlatch.engine": "test",
        "turnlatch.execution_mode": "interactive",
        "turnlatch.attempt_number": 1,
        "turnlatch.status": "waiting_user",
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.output_tokens": 40,
    }
    (decided,) = turn.events
    assert (decided.name, decided.timestamp) == ("turnlatch.decision", turn.end_time)
    assert dict(decided.attributes or {}) == {"turnlatch.outcome": "waiting_user", "turnlatch.rule": "GATE-7"}
    assert (last.status.status_code.name, last.status.description) == ("ERROR", "TIMEOUT")
    assert (last.events[0].attributes or {})["turnlatch.code"] == "TIMEOUT"
    assert "SECRET" not in json.dumps([span.to_json() for span in spans])


def test_whoever_ends_a_turn_tells_all_of_it() -> None:
    """As a worker that was restarted in the middle: it has seen nothing but the end."""

    def work(provider: TracerProvider) -> None:
        observations: list[Any] = []
        play(observations.append)
        Traces(provider).observe(observations[2])

    (turn,) = spans_of(work)
    assert turn.start_time is not None and turn.end_time is not None
    assert turn.end_time - turn.start_time == 3_000_000_000
