"""The HTTP server around the service: says when it listens, and stops gently."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Generator
from types import FrameType
from typing import cast

import uvicorn

from .app import make_app
from .connections import AcceptErrors, limited_protocol
from .log import log
from .safety import App, Guard
from .service import Service
from .settings import Settings, SettingsInvalid

_BACKLOG = 512
_LAST_ANSWERS_SEC = 5


async def serve(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT."""
    # Before the first agent is started: without a port there is nothing to start them for.
    listener = _listen(settings)
    service = Service(settings)
    await service.start()
    log.warning("agents run as the user of this service: they can read its token and answer in place of people")
    app = Guard(cast("App", make_app(service, settings.console)), settings)
    asyncio.get_running_loop().set_exception_handler(AcceptErrors())
    config = uvicorn.Config(
        app,
        http=limited_protocol(settings),
        backlog=_BACKLOG,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_LAST_ANSWERS_SEC,
    )
    await _Server(config, service).serve(sockets=[listener])
    await service.close()
    log.info("stopped")


class _Server(uvicorn.Server):
    """Says when it listens, and lets the service stop before it stops listening."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self._stopping: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or []:
            print(f"listening on {_address(listener)}", flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal stops gently, a second one at once."""
        if self._stopping is not None:
            super().handle_exit(sig, frame)
            return
        self._stopping = self._loop.create_task(self._stop())

    async def _stop(self) -> None:
        try:
            await self._service.stop()
        finally:
            self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """The server's own way sends the signal once more at the end, and the exit status would not be 0."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self._loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
        # Every connection inherits it. asyncio sees to that for sockets of its own making alone, and without it the
        # second part of an answer waits 40 ms until the client has confirmed the first.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise SettingsInvalid(f"cannot listen on {settings.host}, port {settings.port}: {error}") from None


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
