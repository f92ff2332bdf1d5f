"""Metrics for Prometheus and traces for OpenTelemetry, from what a driver observes: `pip install turnlatch[telemetry]`.

The names, labels, buckets and attributes are those of the npm package; docs/operations.md lists them.
"""

from .metrics import Metrics
from .traces import Traces, trace_id_of

__all__ = ["Metrics", "Traces", "trace_id_of"]
