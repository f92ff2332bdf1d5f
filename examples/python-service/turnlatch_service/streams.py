"""Server-sent events: a run's steps from its journal, the agent's words between them, and all runs' changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from fastapi import Response
from fastapi.responses import StreamingResponse

from turnlatch import Plan, Replayer, Run

from .errors import NotServed, compact
from .listing import read_members
from .service import Service

_HEARTBEAT_SEC = 15.0
_HEARTBEAT = b": still here\n\n"


def read_last_event_id(header: str | None, query: bytes) -> int | None:
    """Where the client left off; the header of a reconnecting client is newer than its address."""
    given = header if header is not None else read_members(query, "last_event_id").get("last_event_id")
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= 15):
        raise NotServed("QUERY_INVALID", "the last event id is a whole number, 0 or more")
    return int(given)


async def run_events(service: Service, run_id: str, last: int | None) -> Response:
    """The steps of one run after the last one seen, then live until its end."""
    run = await service.run(run_id)
    if run.ended and last is not None and last >= run.revision:
        return Response(status_code=204)  # which keeps an EventSource from asking again
    return _stream(_steps(service, run_id, run.plan, last or 0))


async def all_events(service: Service, last: int | None) -> Response:
    """What changes in any run."""
    return _stream(_changed(service, await service.hosting.last_change() if last is None else last))


class Replay:
    """Replays a journal from its first line on; the core says what each line did."""

    def __init__(self, plan: Plan) -> None:
        self._replayer = Replayer(plan)
        self.run: Run | None = None

    def take(self, lines: list[str]) -> list[tuple[int, str]]:
        """The steps of the next lines, each with its revision."""
        steps = [(revision, self._replayer.next_json(line)) for revision, line in enumerate(lines, self.revision + 1)]
        self.run = self._replayer.run
        return steps

    @property
    def revision(self) -> int:
        """How many lines were taken."""
        return 0 if self.run is None else self.run.revision


async def _steps(service: Service, run_id: str, plan: Plan, last: int) -> AsyncGenerator[bytes, None]:
    replay, listener = Replay(plan), service.words.listener(run_id)
    with service.hosting.changes.of(run_id) as changed, service.words.changes.of(run_id) as said:
        changed.set()
        while not service.stopping.is_set():
            if changed.is_set():
                changed.clear()
                lines = await service.hosting.lines(run_id, replay.revision)
                # Old turns are judged again on the way, which is not for the event loop to wait for.
                for revision, step in await asyncio.to_thread(replay.take, lines):
                    if revision > last:
                        yield _event("step", step, revision)
            run = replay.run
            if run is not None and run.ended:
                yield _event("end", "{}")
                return
            said.clear()
            # Words stand behind the step that began their turn and never behind the one that ended it.
            if run is not None and run.status == "running" and (news := listener.news(run.attempt_number)):
                yield _event("said", compact(news))
            if not await _wake(changed, said, service.stopping):
                changed.set()  # the announcement of a change may have been lost
                yield _HEARTBEAT


async def _changed(service: Service, last: int) -> AsyncGenerator[bytes, None]:
    with service.hosting.changes.of(None) as changed:
        while not service.stopping.is_set():
            changed.clear()
            while changes := await service.hosting.changes_after(last):
                for change in changes:
                    last = change.number
                    yield _event("changed", compact({"run_id": change.run_id, "revision": change.revision}), last)
            if not await _wake(changed, service.stopping):
                yield _HEARTBEAT


async def _wake(*events: asyncio.Event) -> bool:
    """Waits for one of these. ``False`` if it is time for a sign of life."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        done, _ = await asyncio.wait(waits, timeout=_HEARTBEAT_SEC, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    return bool(done)


def _event(name: str, data: str, number: int | None = None) -> bytes:
    """An event with a number is one that a client can go on after."""
    place = "" if number is None else f"id: {number}\n"
    return f"{place}event: {name}\ndata: {data}\n\n".encode()


def _stream(events: AsyncGenerator[bytes, None]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
