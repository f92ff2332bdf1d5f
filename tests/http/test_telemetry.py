"""Metrics, traces and JSON logs of a service: the right numbers, the same from every kind, and nobody's words."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from conftest import StartService
from otlp_receiver import OtlpReceiver
from running import HERE, ROOT, RunningService, until
from test_bad_input import refused

SECRET = "hunter2"
HOSTILE = f'{SECRET}"}} 1\nturnlatch_forged_total 1\r\n\x00\x1b[31m\u202e{{"level":"error"}}'
INTERACTIVE = {"execution_mode": "interactive"}


def metrics_of(service: RunningService) -> dict[str, Any]:
    """Every family with its type, help and samples. What depends on how fast the machine is has no value."""
    answer = service.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    families: dict[str, Any] = {}
    for family in text_string_to_metric_families(answer.text):
        samples: dict[str, float | None] = {}
        for sample in family.samples:
            labels = {name: float(value) if name == "le" else value for name, value in sample.labels.items()}
            named = f"{sample.name}{sorted(labels.items())}"
            samples[named] = None if sample.name.endswith(("_sum", "_bucket")) else sample.value
        families[family.name] = (family.type, family.documentation, samples)
    return families


def play(service: RunningService) -> None:
    """Runs of every end, with hostile words wherever words can be."""
    service.create("ask-once", run_id="answered", **INTERACTIVE)
    service.wait("answered", "waiting_user")
    assert service.reply("answered", 7, HOSTILE).status_code >= 400
    assert service.reply("answered", 1, HOSTILE).status_code == 200
    assert service.wait("answered")["status"] == "succeeded"
    service.create("hostile", run_id="canceled", **INTERACTIVE)
    service.wait("canceled", "waiting_user")
    assert service.post("/v1/jobs/canceled/cancel", {"reason": HOSTILE}).status_code == 200
    assert service.post("/v1/jobs/canceled/cancel").status_code == 409
    service.create("crashing", run_id="failed")
    assert service.wait("failed")["error"]["code"] == "PROCESS_FAILED"
    service.create("ask-once", run_id="waits", **INTERACTIVE)
    service.wait("waits", "waiting_user")


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[OtlpReceiver]:
    """Where the services of a test send their spans, soon."""
    running = OtlpReceiver()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.url)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    yield running
    running.close()


def test_services_measure_and_trace_the_same(tmp_path: Path, every_kind: list[str], receiver: OtlpReceiver) -> None:
    found: dict[str, Any] = {}
    for kind in every_kind:
        receiver.spans.clear()
        service = RunningService(kind, tmp_path / kind)
        play(service)
        metrics = metrics_of(service)
        assert service.stop() == 0
        found[kind] = (metrics, [timeless(span) for span in in_order(receiver.spans)])
    for kind in every_kind:
        assert found[kind] == found[every_kind[0]], kind
    metrics, spans = found[every_kind[0]]
    assert {name: kind_of for name, (kind_of, _, _) in metrics.items()} == {
        "turnlatch_started": "counter",
        "turnlatch_ended": "counter",
        "turnlatch_decisions": "counter",
        "turnlatch_warnings": "counter",
        "turnlatch_auto_decisions": "counter",
        "turnlatch_refused": "counter",
        "turnlatch_tokens": "counter",
        "turnlatch_slot_wait_seconds": "histogram",
        "turnlatch_turn_seconds": "histogram",
        "turnlatch_waiting_seconds": "histogram",
        "turnlatch_runs": "gauge",
    }
    assert metrics["turnlatch_runs"][2] == {
        "turnlatch_runs[('status', 'queued')]": 0,
        "turnlatch_runs[('status', 'running')]": 0,
        "turnlatch_runs[('status', 'waiting_user')]": 1,
    }
    assert metrics["turnlatch_ended"][2] == {
        "turnlatch_ended_total[('code', ''), ('status', 'succeeded')]": 1,
        "turnlatch_ended_total[('code', 'CANCELED_BY_USER'), ('status', 'canceled')]": 1,
        "turnlatch_ended_total[('code', 'PROCESS_FAILED'), ('status', 'failed')]": 1,
    }
    assert metrics["turnlatch_refused"][2] == {
        "turnlatch_refused_total[('code', 'RUN_ALREADY_ENDED'), ('event', 'cancel')]": 1,
        "turnlatch_refused_total[('code', 'UNKNOWN_INTERACTION'), ('event', 'reply')]": 1,
    }
    assert [span["name"] for span in spans if span["attributes"]["turnlatch.run_id"] == "answered"] == [
        "turnlatch.slot_wait",
        "turnlatch.turn",
        "turnlatch.waiting",
        "turnlatch.slot_wait",
        "turnlatch.turn",
    ]
    assert receiver.services == {"turnlatch-service"}


def in_order(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def place(span: dict[str, Any]) -> tuple[str, int]:
        return span["attributes"]["turnlatch.run_id"], span["attributes"]["turnlatch.revision"]

    return sorted(spans, key=place)


def timeless(span: dict[str, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(f"turnlatch trace {span['attributes']['turnlatch.run_id']}".encode()).hexdigest()
    assert (span["trace"], span["parent"]) == (digest[:32], digest[32:48])
    return {name: value for name, value in span.items() if name not in ("start", "end")}


def test_nobodys_words_are_told(start_service: StartService, tmp_path: Path, receiver: OtlpReceiver) -> None:
    shouts = f"echo '{SECRET}' >&2; echo '{SECRET}'; exit 3"
    scripted = json.loads((HERE / "engines.json").read_text(encoding="utf-8"))["engines"]["scripted"]
    home = json.dumps(scripted).replace("{home}", str(ROOT / "tests/http"))
    table = {"engines": {"scripted": json.loads(home), "loud": {"first": ["sh", "-c", shouts]}}}
    (tmp_path / "engines.json").write_text(json.dumps(table), encoding="utf-8")
    token = f"{SECRET}-token"
    service = start_service("--log", "json", "--engines", str(tmp_path / "engines.json"), token=token)
    play(service)
    service.create("direct", run_id="loud", engine="loud")
    assert service.wait("loud")["status"] == "failed"
    service.get(f"/v1/jobs/{SECRET}")
    told = service.get("/metrics").text
    assert service.stop() == 0
    assert len(receiver.spans) > 10
    assert SECRET.encode() not in b"".join(receiver.bodies)
    assert SECRET not in told and "forged" not in told
    assert SECRET not in service.said()
    lines = [json.loads(line) for line in service.said().splitlines()]
    assert all({"time", "level", "event"} <= line.keys() for line in lines)
    steps = [line for line in lines if line["event"] != "log"]
    assert [line["event"] for line in steps if line["run_id"] == "loud"] == ["created", "slot_granted", "turn_finished"]
    assert steps[-1]["level"] == "warning" and steps[-1]["code"] == "PROCESS_FAILED"
    assert {line["rejected"] for line in steps if "rejected" in line} == {"UNKNOWN_INTERACTION", "RUN_ALREADY_ENDED"}


def test_a_turn_that_a_restart_ends_is_one_span(start_service: StartService, receiver: OtlpReceiver) -> None:
    service = start_service()
    run_id = service.create("gated", **INTERACTIVE)
    service.wait(run_id, "running")
    service.kill()
    service.start()
    service.wait(run_id)
    with service.steps(run_id) as steps:
        granted, lost = [event.data["at"] for event in steps if event.event == "step"][1:3]
    until(lambda: any(span["name"] == "turnlatch.turn" for span in receiver.spans))
    (turn,) = [span for span in receiver.spans if span["name"] == "turnlatch.turn"]
    assert (turn["start"], turn["end"]) == (granted * 1_000_000, lost * 1_000_000)
    assert turn["attributes"]["turnlatch.event"] == "process_lost"
    assert turn["attributes"]["turnlatch.code"] == "ORCHESTRATOR_RESTART_INTERRUPTED"


def test_a_collector_that_is_dead_or_silent_harms_nothing(
    start_service: StartService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    # Connections are taken by the kernel, and nobody ever reads what they say.
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as dead:
        ports = [listener.getsockname()[1] for listener in (silent, dead)]
        dead.close()
        for port in ports:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
            service = start_service()
            service.may_break = True  # that spans could not be sent is told as an error
            play(service)
            assert service.stop() == 0


def test_metrics_are_not_for_pages_of_others(service: RunningService) -> None:
    refused(service.get("/metrics", headers={"Origin": "http://evil.example"}), 403, "ORIGIN_FORBIDDEN")
    assert not [name for name in service.get("/metrics").headers if name.startswith("access-control")]
    refused(service.post("/metrics"), 405, "METHOD_NOT_ALLOWED")
