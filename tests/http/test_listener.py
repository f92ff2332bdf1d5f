"""Answers are sent at once. A client would notice by 40 ms, at which no test looks; this looks at the cause."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any

import pytest

from turnlatch_service import server


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_no_part_of_an_answer_waits_for_the_client(host: str) -> None:
    where: Any = SimpleNamespace(host=host, port=0)
    with server._listen(where) as listener, socket.create_connection(listener.getsockname()[:2]):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
