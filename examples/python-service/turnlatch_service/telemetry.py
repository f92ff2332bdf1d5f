"""What the service tells of itself: metrics, traces and, as JSON, a line in the log for each step."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from turnlatch.telemetry import Metrics, Traces
from turnlatch.types import Observation

from .log import log_step

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

METRICS_TYPE = CONTENT_TYPE_PLAIN_0_0_4
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_LAST_SPANS_SEC = 2.0


class Telemetry:
    """Takes what the driver observes. A thread of its own sends spans, and drops them if nobody takes them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        # Nobody asks when a series began, and twice as many lines would be read at every scrape.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._unfinished: Mapping[str, int] = {}
        self._metrics = Metrics(self._registry, lambda: self._unfinished)
        self._provider = _exporting(environment) if any(map(environment.get, _ENDPOINTS)) else None
        self._traces = None if self._provider is None else Traces(self._provider)

    def observe(self, observation: Observation) -> None:
        """For the driver's ``on_observation``."""
        self._metrics.observe(observation)
        if self._traces is not None:
            self._traces.observe(observation)
        log_step(observation)

    def metrics(self, unfinished: Mapping[str, int]) -> bytes:
        """The metrics as Prometheus reads them, with how many runs have not ended, by their status."""
        self._unfinished = unfinished
        return generate_latest(self._registry)

    def close(self) -> None:
        """Sends the last spans, if somebody takes them soon."""
        if self._provider is not None:
            sending = threading.Thread(target=self._provider.shutdown, name="last-spans", daemon=True)
            sending.start()
            sending.join(_LAST_SPANS_SEC)


def _exporting(environment: Mapping[str, str]) -> TracerProvider:
    # Imported here because it takes long, and most services send no spans.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = environment.get("OTEL_SERVICE_NAME") or "turnlatch-service"
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
