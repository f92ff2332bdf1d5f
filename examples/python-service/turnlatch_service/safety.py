"""Who may ask, and how much may be sent."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastapi import Request, Response
from starlette.requests import ClientDisconnect

from turnlatch import TurnlatchError

from .errors import NotServed, error_response
from .log import log
from .settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]

_BODY_BYTES = 2 * 1024 * 1024
_READ_PAST_BYTES = 8 * 1024 * 1024
_LOOPBACK_NAMES = {"localhost", "127.0.0.1", "[::1]"}
_PUBLIC = "/v1/health"
_METRICS = "/metrics"
SAFE_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
"""What marks every answer."""


class Guard:
    """Stands in front of the routes: turns strangers away, marks every answer, and logs what breaks."""

    def __init__(self, app: App, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *SAFE_HEADERS]}
            await send(message)

        try:
            self._admit(Request(scope))
            await self._app(scope, receive, marked)
        except NotServed as refused:
            await error_response(refused)(scope, receive, marked)
        except ClientDisconnect:
            log.info("%s %s was given up by its client", scope["method"], scope["path"])
        except Exception:
            # The client has its answer already, by `answer_bug`.
            log.exception("%s %s broke", scope["method"], scope["path"])

    def _admit(self, request: Request) -> None:
        host = request.headers.get("host", "").lower()
        # A page of a stranger's name that resolves to this machine sends that name.
        if self._settings.on_loopback and _name_of(host) not in _LOOPBACK_NAMES | {self._settings.host.lower()}:
            raise NotServed("ORIGIN_FORBIDDEN", "this service answers to localhost only")
        for origin in request.headers.getlist("origin"):
            if origin.lower() not in (f"http://{host}", f"https://{host}"):
                raise NotServed("ORIGIN_FORBIDDEN", "pages of other origins may not use this service")
        path = request.scope["path"]
        is_for_all = path == _PUBLIC or not (path.startswith("/v1/") or path == _METRICS)
        if self._settings.token is not None and not is_for_all:
            scheme, _, given = request.headers.get("authorization", "").partition(" ")
            known = hmac.compare_digest(given.strip().encode("latin-1"), self._settings.token.encode())
            if scheme.lower() != "bearer" or not known:
                headers = {"WWW-Authenticate": "Bearer"}
                raise NotServed("UNAUTHORIZED", "send the service's token as a bearer token", headers=headers)


async def read_body(request: Request) -> str:
    """A request's JSON text, or why it is not taken. What it says is for the core to read."""
    body = bytearray()
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= _BODY_BYTES:
            body += chunk
        elif size > _BODY_BYTES + _READ_PAST_BYTES:
            break
    # A little more than the limit is read and forgotten: a client that is still sending would not see the answer.
    if size > _BODY_BYTES:
        raise NotServed("BODY_TOO_LARGE", f"a body has at most {_BODY_BYTES} bytes")
    if body and not _is_json(request.headers.get("content-type", "")):
        raise NotServed("MEDIA_TYPE_UNSUPPORTED", "a body is sent as application/json")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise NotServed("REQUEST_MALFORMED", f"the body is not UTF-8 at byte {error.start}") from None


async def answer_error(_request: Request, error: Exception) -> Response:
    """The core's and the service's own refusals, for the routes."""
    assert isinstance(error, TurnlatchError), "registered for these only"
    return error_response(error)


async def answer_bug(_request: Request, _error: Exception) -> Response:
    """What a client is told when the service itself is at fault: nothing of its insides."""
    return error_response(NotServed("SERVICE_FAILED", "something went wrong inside of the service; its log says what"))


def _is_json(content_type: str) -> bool:
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    return kind == "application/json" and all(part in ("", "charset=utf-8", 'charset="utf-8"') for part in parameters)


def _name_of(host: str) -> str:
    """The host without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and (port.isdigit() or not port) else host
