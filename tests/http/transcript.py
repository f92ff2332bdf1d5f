"""One fixed session with a service as a transcript, with ids and times replaced: services must not differ in a byte.

usage: transcript.py KIND FILE     runs the session against that kind of service and writes the transcript
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from running import RunningService

_STRICT_OFF = {"interactive_require_user_reply": False, "session_timeout_sec": 900}


class Transcript:
    """Requests and the bodies that came back, as they were sent but for ids, times and what depends on them."""

    def __init__(self, service: RunningService) -> None:
        self._service = service
        self._lines: list[str] = []
        self._names: dict[str, str] = {}

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> None:
        """Sends a request and notes it with its answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        json = {} if body is None else {"json": body}
        answer = self._service.http.request(method, path, headers=named, **json)  # type: ignore[arg-type]
        kind = answer.headers.get("content-type", "none")
        self._lines += [f"{method} {path}", f"{answer.status_code} {kind}", self._normalised(answer.text), ""]

    def text(self) -> str:
        """The whole transcript."""
        return "\n".join(self._lines)

    def _normalised(self, text: str) -> str:
        text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", self._name, text)
        text = re.sub(r"\b[0-9a-f]{64}\b", "<digest>", text)
        return re.sub(r"\b1[0-9]{12}\b", "<time>", text)

    def _name(self, found: re.Match[str]) -> str:
        """The same id gets the same name, so that ids still say what belongs together."""
        return self._names.setdefault(found[0], f"<id {len(self._names) + 1}>")


def session(service: RunningService) -> str:
    """Everything the API has, in an order that leaves nothing to chance."""
    note = Transcript(service)
    run = {"engine": "scripted", "execution_mode": "interactive"}
    note.ask("GET", "/v1/skills")
    note.ask("GET", "/v1/health")
    note.ask("GET", "/v1/jobs")
    note.ask("GET", "/v1/openapi.json")
    note.ask("POST", "/v1/jobs", {**run, "skill": "ask-twice", "run_id": "two", "runtime_options": _STRICT_OFF})
    first = service.wait("two", "waiting_user")["revision"]
    note.ask("GET", "/v1/jobs/two")
    note.ask("GET", "/v1/jobs/two/interaction/pending")
    note.ask("GET", "/v1/jobs/two/explanation")
    note.ask("GET", "/v1/jobs/two/snapshot")
    reply = {"interaction_id": 1, "response": "ünïcode \u2028 \U0001f642", "idempotency_key": "k"}
    note.ask("POST", "/v1/jobs/two/interaction/reply", {"interaction_id": 2, "response": "too soon"})
    note.ask("POST", "/v1/jobs/two/interaction/reply", reply)
    service.wait("two", "waiting_user", after=first)
    note.ask("POST", "/v1/jobs/two/interaction/reply", reply)
    note.ask("POST", "/v1/jobs/two/interaction/reply", {"interaction_id": 1, "response": "too late"})
    note.ask("POST", "/v1/jobs/two/interaction/reply", {"interaction_id": 2, "response": {"line": 9007199254740993}})
    service.wait("two")
    for rest in ("", "/interaction/pending", "/interaction/history", "/explanation", "/snapshot", "/record", "/events"):
        note.ask("GET", f"/v1/jobs/two{rest}")
    note.ask("GET", "/v1/jobs/two/events", Last_Event_ID="4")
    note.ask("GET", "/v1/jobs/two/events", Last_Event_ID="99")
    for skill in ("soft", "hostile", "never-done"):
        note.ask("POST", "/v1/jobs", {**run, "skill": skill, "run_id": skill})
        service.wait(skill, "waiting_user")
        note.ask("GET", f"/v1/jobs/{skill}")
        note.ask("GET", f"/v1/jobs/{skill}/record")
    note.ask("POST", "/v1/jobs/hostile/cancel", {"reason": "\x1b[31mred"})
    note.ask("POST", "/v1/jobs/hostile/cancel")
    note.ask("POST", "/v1/jobs/never-done/interaction/reply", {"interaction_id": 1, "response": ""})
    service.wait("never-done")
    note.ask("GET", "/v1/jobs/never-done/events")
    for skill in ("no-artifact", "crashing", "input"):
        members = {"input": {"path": "a"}} if skill == "input" else {}
        note.ask("POST", "/v1/jobs", {"engine": "scripted", "skill": skill, "run_id": skill, **members})
        service.wait(skill)
        note.ask("GET", f"/v1/jobs/{skill}")
    note.ask("GET", "/v1/jobs?status=failed,canceled&limit=2")
    note.ask("GET", "/v1/jobs?before=soft")
    unknown, no_engine = {"skill": "../x", "engine": "scripted"}, {"skill": "soft"}
    bodies: list[object] = [None, [], unknown, no_engine, {**run, "skill": "direct", "x": 1}]
    for body in bodies:
        note.ask("POST", "/v1/jobs", body)
    note.ask("POST", "/v1/jobs", {**run, "skill": "soft", "run_id": "soft"})
    note.ask("POST", "/v1/jobs", {"engine": "scripted", "skill": "input", "input": {"path": 1}})
    note.ask("POST", "/v1/jobs/soft/interaction/reply", {"interaction_id": 1, "response": "none asked"})
    note.ask("GET", "/v1/jobs/nothing")
    note.ask("GET", "/v1/jobs?limit=0")
    note.ask("GET", "/v1/nothing")
    note.ask("DELETE", "/v1/jobs")
    note.ask("GET", "/v1/jobs", Origin="http://evil.example")
    return note.text()


def record_session(kind: str, data: Path) -> str:
    """Starts a service of this kind on a new folder and records the session with it."""
    service = RunningService(kind, data, "--slots", "1")
    try:
        return session(service)
    finally:
        service.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(sys.argv[2]).write_text(record_session(sys.argv[1], Path(folder) / "data"), encoding="utf-8")
