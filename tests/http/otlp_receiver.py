"""A receiver of traces on loopback, as a collector is one: it takes OTLP over HTTP and keeps the spans."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue


class OtlpReceiver:
    """Listens until it is closed. ``spans`` are all that came, as plain data, and ``bodies`` what was sent."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []
        self.services: set[str] = set()
        self.bodies: list[bytes] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = b"".join(self._chunks())
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/traces", self.path
                receiver.take(body)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def _chunks(self) -> Iterator[bytes]:
                if self.headers.get("Transfer-Encoding") != "chunked":
                    yield self.rfile.read(int(self.headers["Content-Length"]))
                    return
                while size := int(self.rfile.readline(), 16):
                    yield self.rfile.read(size)
                    self.rfile.readline()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def take(self, body: bytes) -> None:
        """Reads one request."""
        self.bodies.append(body)
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services.add(str(_members(group.resource.attributes)["service.name"]))
            for scope in group.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        {
                            "name": span.name,
                            "trace": span.trace_id.hex(),
                            "parent": span.parent_span_id.hex(),
                            "start": span.start_time_unix_nano,
                            "end": span.end_time_unix_nano,
                            "status": (span.status.code, span.status.message),
                            "attributes": _members(span.attributes),
                            "events": [(event.name, _members(event.attributes)) for event in span.events],
                        }
                    )

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _members(attributes: Any) -> dict[str, Any]:
    members: list[KeyValue] = list(attributes)
    return {member.key: _value(member.value) for member in members}


def _value(value: AnyValue) -> Any:
    which = value.WhichOneof("value")
    return [_value(item) for item in value.array_value.values] if which == "array_value" else getattr(value, str(which))
