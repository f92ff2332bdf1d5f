"""Observations as OpenTelemetry spans, one for each time a run left a status. A span is made at its end, from the times
that the run itself counts, so that a worker that was restarted in the middle of a turn still tells all of it."""

from __future__ import annotations

import hashlib
from typing import cast

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.util.types import AttributeValue

from .._core import __version__
from ..types import DecisionSummary, Observation

_SPANS = {"queued": "turnlatch.slot_wait", "running": "turnlatch.turn", "waiting_user": "turnlatch.waiting"}
_MEMBERS = (
    "run_id",
    "revision",
    "event",
    "by",
    "engine",
    "execution_mode",
    "attempt_number",
    "status",
    "resolution_mode",
    "code",
)
_NANOSECONDS = 1_000_000


class Traces:
    """Tells a tracer what a driver observes; ``observe`` is for its ``on_observation``."""

    def __init__(self, tracer_provider: trace.TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("turnlatch", __version__, tracer_provider)

    def observe(self, observation: Observation) -> None:
        """Takes what a driver observed."""
        name = _SPANS.get(observation.get("left", ""))
        if name is None:
            return
        end = observation["at"] * _NANOSECONDS
        span = self._tracer.start_span(
            name,
            context=_trace_of(observation["run_id"]),
            start_time=end - observation.get("lasted_ms", 0) * _NANOSECONDS,
            attributes=_attributes(observation),
        )
        if "decision" in observation:
            span.add_event("turnlatch.decision", _decided(observation["decision"]), end)
        if observation["status"] == "failed":
            span.set_status(trace.StatusCode.ERROR, observation.get("code", ""))
        span.end(end)


def trace_id_of(run_id: str) -> str:
    """The id of the trace that all spans of a run are in, whoever makes them: 32 hexadecimal digits."""
    return _digest(run_id)[:32]


def _digest(run_id: str) -> str:
    return hashlib.sha256(f"turnlatch trace {run_id}".encode()).hexdigest()


def _trace_of(run_id: str) -> Context:
    """A context whose parent is the run itself: nobody makes a span of it, but all of its workers name it."""
    digest = _digest(run_id)
    run = trace.SpanContext(
        trace_id=int(digest[:32], 16),
        span_id=int(digest[32:48], 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(run), Context())


def _attributes(observation: Observation) -> dict[str, AttributeValue]:
    members = cast("dict[str, AttributeValue]", observation)
    told = {f"turnlatch.{member}": members[member] for member in _MEMBERS if member in members}
    if "usage" in observation:
        usage = observation["usage"]
        told["gen_ai.usage.input_tokens"] = usage["input_tokens"]
        told["gen_ai.usage.output_tokens"] = usage["output_tokens"]
    return told


def _decided(decision: DecisionSummary) -> dict[str, AttributeValue]:
    told: dict[str, AttributeValue] = {"turnlatch.outcome": decision["outcome"], "turnlatch.rule": decision["rule"]}
    if "code" in decision:
        told["turnlatch.code"] = decision["code"]
    if decision["warnings"]:
        told["turnlatch.warnings"] = decision["warnings"]
    return told
