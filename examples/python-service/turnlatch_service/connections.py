"""Connections of clients that do not finish their requests, that are not HTTP, or that are too many."""

from __future__ import annotations

import asyncio
import errno
from typing import Any, ClassVar

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from .errors import NotServed, error_response
from .log import log
from .safety import SAFE_HEADERS
from .settings import Settings

_OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_ACCEPT_ERRORS_SEC = 1.0


def limited_protocol(settings: Settings) -> type[H11Protocol]:
    """The HTTP protocol with the time that a request may take to arrive. uvicorn limits idle connections only."""

    class Limited(_RequestProtocol):
        headers_sec = settings.headers_sec
        body_sec = settings.body_sec

    return Limited


class _RequestProtocol(H11Protocol):
    """Closes a connection whose request does not arrive in time, and answers what is not HTTP like other errors."""

    headers_sec: ClassVar[float]
    body_sec: ClassVar[float]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = _StrictConnection(h11.SERVER)
        self._arriving: object = None
        self._timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit_arrival()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._expect(None)

    def handle_events(self) -> None:
        """Called for whatever has arrived, and for what had to wait until the previous request was answered."""
        super().handle_events()
        self._limit_arrival()

    def send_400_response(self, msg: str) -> None:
        """Sends the error in the service's own form. An answer that has begun already cannot become an error."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        answer = error_response(NotServed("REQUEST_MALFORMED", "this is not a request"))
        headers = [*answer.raw_headers, *SAFE_HEADERS, (b"connection", b"close")]
        events = [
            h11.Response(status_code=answer.status_code, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ]
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _limit_arrival(self) -> None:
        state = self.conn.their_state
        if self.transport.is_closing():
            self._expect(None)
        elif state is h11.SEND_BODY:
            self._expect((state, self.cycle), self.body_sec)
        elif state is h11.IDLE and self.timeout_keep_alive_task is None:
            # Nothing has come yet, or a part of the headers. Between requests uvicorn's own timer runs.
            self._expect((state, self.cycle), self.headers_sec)
        else:
            self._expect(None)

    def _expect(self, arriving: object, seconds: float = 0) -> None:
        """Starts a timer for what is arriving now, unless it has one already."""
        if arriving == self._arriving:
            return
        if self._timeout is not None:
            self._timeout.cancel()
        self._arriving = arriving
        self._timeout = None if arriving is None else self.loop.call_later(seconds, self.transport.abort)


class _StrictConnection(h11.Connection):
    """Refuses a length beside chunks: a proxy may see another end of the request than h11, which takes the chunks."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding together")
        return event


class AcceptErrors:
    """The loop's exception handler: asyncio reports each failed accept, thousands a second without descriptors."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in _OUT_OF_RESOURCES and "socket" in context):
            loop.default_exception_handler(context)
        elif loop.time() >= self._quiet_until:
            self._quiet_until = loop.time() + _ACCEPT_ERRORS_SEC
            log.warning("connections have to wait: %s", error)
