"""Connections that send nothing, half a request, two lengths, or are too many: none of them keeps the service busy."""

from __future__ import annotations

import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from conftest import StartService
from running import RunningService, until

HEADERS_SEC, BODY_SEC = 2.0, 4.0
SHORT = {"TURNLATCH_HEADERS_SEC": str(HEADERS_SEC), "TURNLATCH_BODY_SEC": str(BODY_SEC)}

GET = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
UNFINISHED = {
    "nothing": b"",
    "a part of the first line": b"GET /v1/hea",
    "a part of the headers": b"GET /v1/health HTTP/1.1\r\nHost: loc",
    "a part of the headers after another request": GET + b"GET /v1/health HTTP/1.1\r\nHo",
    "no body": POST + b"Content-Length: 2\r\n\r\n",
    "a part of a body": POST + b"Content-Length: 100\r\n\r\n{",
    "a part of the chunks": POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n5\r\n",
    "a body that is not awaited": GET.replace(b"\r\n\r\n", b"\r\nContent-Length: 9\r\n\r\n{"),
    "a stream with a part of a body": b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
}


@pytest.fixture
def impatient(start_service: StartService) -> RunningService:
    """A service that does not wait long for requests."""
    return start_service(environment=SHORT)


def test_what_is_not_sent_to_its_end_is_closed(impatient: RunningService) -> None:
    with ExitStack() as connections:
        started = time.monotonic()
        opened = {}
        for name, sent in UNFINISHED.items():
            opened[name] = connections.enter_context(connected(impatient))
            opened[name].sendall(sent)
        for name, connection in opened.items():
            answer = read_to_end(connection)
            assert b" 400 " not in answer and b" 408 " not in answer, (name, answer)
        assert time.monotonic() - started >= HEADERS_SEC
    assert impatient.get("/v1/health").status_code == 200


@pytest.mark.parametrize("begin", [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", POST + b"Content-Length: 9999\r\n\r\n"])
def test_trickling_does_not_help(impatient: RunningService, begin: bytes) -> None:
    with connected(impatient) as connection:
        connection.sendall(begin)
        connection.settimeout(0.1)

        def is_closed() -> bool:
            try:
                connection.sendall(b"x")
                return connection.recv(1) == b""
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        until(is_closed)


def test_whoever_sent_a_request_may_take_its_time(impatient: RunningService) -> None:
    """A stream, and a connection that is used again and again, outlive every limit."""
    with impatient.events("/v1/events") as events, connected(impatient) as connection:
        began = time.monotonic()
        while time.monotonic() < began + BODY_SEC + HEADERS_SEC:
            connection.sendall(GET)
            answer = b""
            while not answer.endswith(b"}"):
                answer += connection.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200 "), answer
            time.sleep(HEADERS_SEC / 4)
        run_id = impatient.create("direct")
        assert next(events).data["run_id"] == run_id


@pytest.mark.parametrize("order", [0, 1])
def test_a_length_beside_chunks_is_refused(service: RunningService, order: int) -> None:
    """Two programs could see two different ends, and what one takes for a body is a request for the other."""
    framing = [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"]
    request = POST + framing[order] + framing[1 - order] + b"\r\n0\r\n\r\n" + GET
    answer = not_http(service, request)
    assert answer.count(b"HTTP/1.1 ") == 1, "what follows is no request"


@pytest.mark.parametrize("request_", [b"\0\1\2\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"x" * 100_000])
def test_what_is_not_http_gets_an_error_of_the_usual_form(service: RunningService, request_: bytes) -> None:
    not_http(service, request_)


def test_without_descriptors_the_log_stays_short_and_the_service_comes_back(impatient: RunningService) -> None:
    process = impatient.process.pid
    used = len(list(Path(f"/proc/{process}/fd").iterdir()))
    resource.prlimit(process, resource.RLIMIT_NOFILE, (used + 10, used + 10))
    log_before = impatient.said()
    started = time.monotonic()
    with ExitStack() as connections:
        for _ in range(200):
            with suppress(ConnectionError):
                connections.enter_context(connected(impatient)).sendall(b"GET / HTTP/1.1\r\nHo")
        until(lambda: is_healthy(impatient))
    seconds = time.monotonic() - started
    log = impatient.said().removeprefix(log_before)
    lines = [line for line in log.splitlines() if "connections have to wait" in line]
    # The kernel's queue is emptied by Node itself, which closes what it has no descriptor for.
    assert len(lines) >= (impatient.kind == "python")
    assert len(lines) <= seconds + 1
    assert len(log) < 1000 * (seconds + 1), log


def is_healthy(service: RunningService) -> bool:
    """Whether it answers at once, to a new connection."""
    try:
        with service.client(headers={"Connection": "close"}) as client:
            return client.get("/v1/health", timeout=1).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def connected(service: RunningService) -> Iterator[socket.socket]:
    """A connection of its own."""
    address = ("127.0.0.1", int(service.url.rpartition(":")[2]))
    with socket.create_connection(address, timeout=30) as connection:
        yield connection


def read_to_end(connection: socket.socket) -> bytes:
    """Everything until the service closes the connection. Where it had not read all, the end is a reset."""
    answer = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65536):
            answer += piece
    return answer


def not_http(service: RunningService, request: bytes) -> bytes:
    """Checks that this is refused, and the connection closed. The answer."""
    with connected(service) as connection:
        connection.sendall(request)
        answer = read_to_end(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n"), answer
    headers = {line.lower() for line in head.split(b"\r\n")}
    assert {
        b"content-type: application/json",
        b"connection: close",
        b"cache-control: no-store",
        b"x-content-type-options: nosniff",
        b"content-length: %d" % len(body),
    } <= headers, head
    error = {"code": "REQUEST_MALFORMED", "message": "this is not a request", "details": None}
    assert json.loads(body) == {"error": error}
    return answer
