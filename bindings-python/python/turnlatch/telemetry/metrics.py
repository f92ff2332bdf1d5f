"""Observations as Prometheus metrics. Label values come from short lists, so the number of series does not grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ..types import Observation

_UNFINISHED = ("queued", "running", "waiting_user")
_SLOT_WAIT = (0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200)
_TURN = (1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600)
_WAITING = (1, 10, 60, 300, 900, 3600, 14400, 86400, 604800)


class Metrics:
    """Counts and measures what a driver observes; ``observe`` is for its ``on_observation``.

    ``count_unfinished`` is asked at every scrape how many runs have not ended; that of ``Driver`` will do.
    That of ``DbosDriver`` has to be awaited: ask it before the scrape, and give what it said.
    """

    def __init__(
        self,
        registry: CollectorRegistry = REGISTRY,
        count_unfinished: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        def counter(name: str, meaning: str, *labels: str) -> Counter:
            return Counter(f"turnlatch_{name}", meaning, labels, registry=registry)

        def histogram(name: str, meaning: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(f"turnlatch_{name}", meaning, labels, registry=registry, buckets=buckets)

        self._started = counter("started_total", "Runs that were made", "engine", "execution_mode")
        self._ended = counter("ended_total", "Runs that ended", "status", "code")
        self._decisions = counter("decisions_total", "Turns that the gates judged", "outcome", "rule")
        self._warnings = counter("warnings_total", "Warnings of the gates", "code")
        self._auto_decisions = counter("auto_decisions_total", "Questions that a deadline answered")
        self._refused = counter("refused_total", "Events that a run rejected", "event", "code")
        self._tokens = counter("tokens_total", "Tokens that turns reported", "engine", "kind")
        self._slot_wait = histogram("slot_wait_seconds", "How long runs waited for a slot", _SLOT_WAIT, "engine")
        self._turn = histogram("turn_seconds", "How long turns took", _TURN, "engine", "status")
        self._waiting = histogram("waiting_seconds", "How long runs waited for a person", _WAITING, "resolution_mode")
        if count_unfinished is not None:
            registry.register(_Runs(count_unfinished))

    def observe(self, observation: Observation) -> None:
        """Takes what a driver observed."""
        if "rejected" in observation:
            self._refused.labels(observation["event"], observation["rejected"]).inc()
            return
        engine, status = observation["engine"], observation["status"]
        if observation["event"] == "created":
            self._started.labels(engine, observation["execution_mode"]).inc()
        self._measure(observation)
        if "decision" in observation:
            decision = observation["decision"]
            self._decisions.labels(decision["outcome"], decision["rule"]).inc()
            for code in decision["warnings"]:
                self._warnings.labels(code).inc()
        if observation.get("resolution_mode") == "auto_decide_timeout":
            self._auto_decisions.inc()
        if "usage" in observation:
            for kind, tokens in observation["usage"].items():
                self._tokens.labels(engine, kind.removesuffix("_tokens")).inc(float(str(tokens)))
        if "left" in observation and status not in _UNFINISHED:
            self._ended.labels(status, observation.get("code", "")).inc()

    def _measure(self, observation: Observation) -> None:
        seconds = observation.get("lasted_ms", 0) / 1000
        match observation.get("left"):
            case "queued":
                self._slot_wait.labels(observation["engine"]).observe(seconds)
            case "running":
                self._turn.labels(observation["engine"], observation["status"]).observe(seconds)
            case "waiting_user":
                self._waiting.labels(observation.get("resolution_mode", "")).observe(seconds)
            case _:
                pass


class _Runs(Collector):
    """Asked at a scrape, because what counts is what is stored and not what this process has seen."""

    def __init__(self, count_unfinished: Callable[[], Mapping[str, int]]) -> None:
        self._count_unfinished = count_unfinished

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """What there will be, without counting."""
        yield GaugeMetricFamily("turnlatch_runs", _RUNS, labels=["status"])

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The counts of now. Those of unfinished runs are there also if they are 0."""
        family = GaugeMetricFamily("turnlatch_runs", _RUNS, labels=["status"])
        for status, count in {**dict.fromkeys(_UNFINISHED, 0), **self._count_unfinished()}.items():
            family.add_metric([status], count)
        yield family


_RUNS = "Runs that have not ended, by their status"
