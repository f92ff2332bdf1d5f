"""The routes. Each reads its request, asks the core by the service, and sends the core's own text."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from turnlatch import Journal, TurnlatchError, export_run, request_event

from .console import console_file
from .errors import NotServed, compact, error_response, json_response
from .listing import read_list_query
from .safety import answer_bug, answer_error, read_body
from .service import Service
from .settings import SHARED
from .streams import all_events, read_last_event_id, run_events
from .telemetry import METRICS_TYPE


def make_app(service: Service, console: Path) -> FastAPI:
    """The whole API and the console."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_exception_handler(TurnlatchError, answer_error)
    app.add_exception_handler(Exception, answer_bug)
    _add_service_routes(app, service)
    _add_job_routes(app, service)
    _add_run_routes(app, service)

    @app.get("/{path:path}")
    async def files(request: Request, path: str) -> Response:
        if request.scope["path"].startswith("/v1/"):
            raise _no_route(app, request)
        return console_file(console, path)

    async def wrong_method(request: Request, _error: Exception) -> Response:
        return error_response(_no_route(app, request))

    app.add_exception_handler(HTTPException, wrong_method)
    return app


def _add_service_routes(app: FastAPI, service: Service) -> None:
    description = (SHARED / "openapi.json").read_text(encoding="utf-8")

    @app.get("/v1/health")
    async def health() -> Response:
        return json_response(await service.health())

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(await service.metrics(), headers={"Content-Type": METRICS_TYPE})

    @app.get("/v1/skills")
    async def skills() -> Response:
        return json_response(await service.skills())

    @app.get("/v1/openapi.json")
    async def openapi() -> Response:
        return json_response(description)

    @app.get("/v1/events")
    async def events(request: Request) -> Response:
        return await all_events(service, _last_event_id(request))


def _add_job_routes(app: FastAPI, service: Service) -> None:
    @app.get("/v1/jobs")
    async def jobs(request: Request) -> Response:
        return json_response(await service.hosting.page(read_list_query(request.scope["query_string"])))

    @app.post("/v1/jobs")
    async def create(request: Request) -> Response:
        service.check_open()
        run_id, view = await service.create_job(await read_body(request))
        return json_response(view, 201, {"Location": f"/v1/jobs/{run_id}"})

    @app.post("/v1/jobs/{run_id}/interaction/reply")
    async def reply(request: Request, run_id: str) -> Response:
        return await _tell(service, "reply", request, run_id)

    @app.post("/v1/jobs/{run_id}/cancel")
    async def cancel(request: Request, run_id: str) -> Response:
        return await _tell(service, "cancel", request, run_id)


def _add_run_routes(app: FastAPI, service: Service) -> None:
    @app.get("/v1/jobs/{run_id}")
    async def status(run_id: str) -> Response:
        return json_response((await service.run(run_id)).status_view_json())

    @app.get("/v1/jobs/{run_id}/interaction/pending")
    async def pending(run_id: str) -> Response:
        return json_response((await service.run(run_id)).pending_view_json())

    @app.get("/v1/jobs/{run_id}/interaction/history")
    async def history(run_id: str) -> Response:
        run = await service.run(run_id)
        return json_response(f'{{"run_id":{compact(run_id)},"history":{run.history_json()}}}')

    @app.get("/v1/jobs/{run_id}/explanation")
    async def explanation(run_id: str) -> Response:
        return json_response((await service.run(run_id)).explain_json())

    @app.get("/v1/jobs/{run_id}/snapshot")
    async def snapshot(run_id: str) -> Response:
        return json_response(await service.snapshot(run_id))

    @app.get("/v1/jobs/{run_id}/record")
    async def record(run_id: str) -> Response:
        plan = (await service.run(run_id)).plan
        journal = Journal.from_lines(run_id, await service.hosting.lines(run_id))
        attached = {"Content-Disposition": f'attachment; filename="{run_id}.record.json"'}
        return json_response(export_run(plan, journal), headers=attached)

    @app.get("/v1/jobs/{run_id}/events")
    async def events(request: Request, run_id: str) -> Response:
        return await run_events(service, run_id, _last_event_id(request))


async def _tell(service: Service, what: Literal["reply", "cancel"], request: Request, run_id: str) -> Response:
    service.check_open()
    await service.snapshot(run_id)  # an unknown run is unknown, whatever the body says
    event = request_event(what, await read_body(request))
    return json_response(compact(await service.tell(run_id, event)))


def _last_event_id(request: Request) -> int | None:
    return read_last_event_id(request.headers.get("last-event-id"), request.scope["query_string"])


def _no_route(app: FastAPI, request: Request) -> NotServed:
    """Why no route takes a request: another method would do, or nothing is there."""
    methods: set[str] = set()
    for route in app.routes:
        # Everything can be a path of the console, so that its route says nothing about paths of the API.
        of_console = isinstance(route, Route) and route.path == "/{path:path}"
        is_api = request.scope["path"].startswith("/v1/")
        if isinstance(route, Route) and of_console != is_api and route.matches(request.scope)[0] is Match.PARTIAL:
            methods |= route.methods or set()
    if not methods:
        return NotServed("PATH_UNKNOWN", "there is nothing at this path")
    allow = ", ".join(sorted(methods))
    return NotServed("METHOD_NOT_ALLOWED", f"this path takes {allow}", headers={"Allow": allow})
