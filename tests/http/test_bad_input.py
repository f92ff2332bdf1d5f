"""Whatever is sent, the answer is an error of the documented form with a stable code, and nothing has changed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from running import RunningService

JSON = {"Content-Type": "application/json"}


def refused(answer: httpx.Response, status: int, code: str) -> Any:
    """Checks the form of an error; its details."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert list(answer.json()) == ["error"]
    error = answer.json()["error"]
    assert list(error) == ["code", "message", "details"]
    assert (error["code"], bool(error["message"])) == (code, True)
    return error["details"]


BAD_JOBS = {
    "empty": (b"", "REQUEST_MALFORMED"),
    "not JSON": (b"skill=ask-once", "REQUEST_MALFORMED"),
    "a list": (b"[]", "REQUEST_MALFORMED"),
    "cut off": (b'{"skill": "ask-once", "engine"', "REQUEST_MALFORMED"),
    "a member twice": (b'{"skill": "ask-once", "skill": "soft", "engine": "scripted"}', "REQUEST_MALFORMED"),
    "NaN": (b'{"skill": "ask-once", "engine": "scripted", "input": NaN}', "REQUEST_MALFORMED"),
    "not UTF-8": (b'{"skill": "ask-once", "engine": "\xff"}', "REQUEST_MALFORMED"),
    "a lone surrogate": (b'{"skill": "ask-once", "engine": "scripted", "input": "\\ud800"}', "REQUEST_MALFORMED"),
    "very deep": (b'{"input": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "REQUEST_MALFORMED"),
    "no skill": (b'{"engine": "scripted"}', "OPTION_INVALID"),
    "a skill that is no text": (b'{"skill": 7, "engine": "scripted"}', "OPTION_INVALID"),
    "no engine": (b'{"skill": "ask-once"}', "OPTION_INVALID"),
    "an unknown engine": (b'{"skill": "ask-once", "engine": "constructor"}', "SKILL_ENGINE_UNSUPPORTED"),
    "an unknown mode": (
        b'{"skill": "ask-once", "engine": "scripted", "execution_mode": "x"}',
        "EXECUTION_MODE_INVALID",
    ),
    "an unknown member": (b'{"skill": "ask-once", "engine": "scripted", "modus": 1}', "OPTION_UNKNOWN"),
    "an unknown option": (
        b'{"skill": "ask-once", "engine": "scripted", "runtime_options": {"x": 1}}',
        "OPTION_UNKNOWN",
    ),
    "options that are none": (b'{"skill": "ask-once", "engine": "scripted", "runtime_options": 5}', "OPTION_INVALID"),
    "a bad run id": (b'{"skill": "ask-once", "engine": "scripted", "run_id": "../../x"}', "RUN_ID_INVALID"),
    "a run id that is no text": (b'{"skill": "ask-once", "engine": "scripted", "run_id": 5}', "RUN_ID_INVALID"),
    "a wrong manifest": (b'{"skill": "broken", "engine": "scripted"}', "SKILL_MANIFEST_INVALID"),
    "input that does not fit": (b'{"skill": "input", "engine": "scripted", "input": {"path": 5}}', "INPUT_INVALID"),
}


@pytest.mark.parametrize("body, code", BAD_JOBS.values(), ids=BAD_JOBS)
def test_a_bad_job_is_refused(service: RunningService, body: bytes, code: str) -> None:
    before = service.get("/v1/jobs").json()
    refused(service.http.post("/v1/jobs", content=body, headers=JSON), 400, code)
    assert service.get("/v1/jobs").json()["jobs"][:1] == before["jobs"][:1], "no run was made"


def test_every_problem_is_told(service: RunningService) -> None:
    job = {"skill": "direct", "engine": "words!", "execution_mode": "interactive", "soft": 1}
    details = refused(service.post("/v1/jobs", job), 400, "SKILL_EXECUTION_MODE_UNSUPPORTED")
    codes = {problem["code"] for problem in details["problems"]}
    assert codes == {"OPTION_UNKNOWN", "SKILL_EXECUTION_MODE_UNSUPPORTED", "SKILL_ENGINE_UNSUPPORTED"}


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../skills/ask-once", "nothing", "ask-once/", "ask-once/../ask-once", "a\0b", "é", "x" * 65]
)
def test_an_unknown_skill(service: RunningService, name: str) -> None:
    refused(service.post("/v1/jobs", {"skill": name, "engine": "scripted"}), 404, "SKILL_UNKNOWN")


@pytest.mark.parametrize("run_id", ["nothing", "..", "a b", "é", "x" * 500, "%00", "a'; DROP TABLE runs; --"])
def test_an_unknown_run(service: RunningService, run_id: str) -> None:
    path = f"/v1/jobs/{quote(run_id, safe='') if run_id != '..' else '%2E%2E'}"
    for rest in ("", "/interaction/pending", "/interaction/history", "/explanation", "/snapshot", "/record", "/events"):
        refused(service.get(path + rest), 404, "RUN_UNKNOWN")
    refused(service.post(f"{path}/cancel"), 404, "RUN_UNKNOWN")
    refused(service.post(f"{path}/interaction/reply", {"interaction_id": 1, "response": ""}), 404, "RUN_UNKNOWN")


BAD_REPLIES = {
    "empty": b"",
    "not JSON": b"b.txt",
    "a list": b"[]",
    "no id": b'{"response": "b.txt"}',
    "no response": b'{"interaction_id": 1}',
    "an id that is no number": b'{"interaction_id": "1", "response": "b.txt"}',
    "an id with a fraction": b'{"interaction_id": 1.5, "response": "b.txt"}',
    "an unknown member": b'{"interaction_id": 1, "response": "b.txt", "resolution_mode": "user_reply"}',
    "a type": b'{"type": "cancel", "interaction_id": 1, "response": "b.txt"}',
    "an empty key": b'{"interaction_id": 1, "response": "b.txt", "idempotency_key": ""}',
    "a member twice": b'{"interaction_id": 1, "interaction_id": 1, "response": "b.txt"}',
    "a lone surrogate": b'{"interaction_id": 1, "response": "\\udc00"}',
}


def test_bad_replies_change_nothing(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    before = service.wait(run_id, "waiting_user")
    path = f"/v1/jobs/{run_id}/interaction/reply"
    for name, body in BAD_REPLIES.items():
        answer = service.http.post(path, content=body, headers=JSON)
        assert answer.json()["error"]["code"] == "EVENT_MALFORMED", f"{name}: {answer.text}"
        assert refused(answer, 400, "EVENT_MALFORMED") is None
    refused(service.http.post(path, content=b'"\xff"', headers=JSON), 400, "REQUEST_MALFORMED")
    details = refused(service.reply(run_id, 9, "b.txt"), 409, "UNKNOWN_INTERACTION")
    assert (details["kind"], details["pending_interaction_id"]) == ("unknown", 1)
    details = refused(service.reply(run_id, 1, "b.txt", expected_revision=99), 409, "REVISION_CONFLICT")
    assert details["kind"] == "conflict"
    too_large = refused(service.reply(run_id, 1, "x" * (1024 * 1024 + 1)), 413, "REPLY_TOO_LARGE")
    assert too_large["kind"] == "too_large"
    assert service.view(run_id) == before
    assert service.reply(run_id, 1, "x" * (1024 * 1024)).status_code == 200, "the limit itself is not too much"


def test_a_reply_that_is_no_text_is_carried_as_json(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    service.reply(run_id, 1, {"file": [1, None]})
    assert service.wait(run_id)["data"] == {"file": '{"file":[1,null]}'}


def test_idempotent_replies(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    first = service.reply(run_id, 1, "b.txt", idempotency_key="k")
    again = service.reply(run_id, 1, "b.txt", idempotency_key="k")
    assert (first.json()["kind"], again.json()["kind"], again.status_code) == ("accepted", "duplicate", 200)
    refused(service.reply(run_id, 1, "a.txt", idempotency_key="k"), 409, "IDEMPOTENCY_CONFLICT")


def test_bad_cancels(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    path = f"/v1/jobs/{run_id}/cancel"
    for body in (b"no", b'{"reason": 5}', b'{"force": true}', b'{"reason": "%s"}' % (b"x" * 5000)):
        refused(service.http.post(path, content=body, headers=JSON), 400, "EVENT_MALFORMED")
    assert service.post(path, {"reason": "\x1b[31m"}).json()["kind"] == "canceled"
    assert refused(service.post(path), 409, "RUN_ALREADY_ENDED")["kind"] == "already_ended"


BAD_QUERIES = [
    "limit=0", "limit=201", "limit=-1", "limit=1.0", "limit=%31%30x", "limit=", "limit=\u0663", "limit=5&limit=6",
    "status=", "status=done", "status=queued,", "status=queued&status=failed", "skill=../x", "skill=", "before=nothing",
    "before=", "page=2", "LIMIT=5", "engine=%ff", "&".join(f"a{n}=1" for n in range(2000)),
]  # fmt: skip


@pytest.mark.parametrize("query", BAD_QUERIES, ids=lambda query: str(query)[:20])
def test_a_bad_query_is_refused(service: RunningService, query: str) -> None:
    refused(service.get(f"/v1/jobs?{query}"), 400, "QUERY_INVALID")


@pytest.mark.parametrize("last", ["-1", "1.5", "x", "", "9" * 40, "\u0663".encode().decode("latin-1")])
def test_a_bad_last_event_id_is_refused(service: RunningService, last: str) -> None:
    run_id = service.create("soft", execution_mode="interactive")
    for path in (f"/v1/jobs/{run_id}/events", "/v1/events"):
        headers = {b"Last-Event-ID": last.encode("latin-1")}
        refused(service.http.get(path, headers=headers), 400, "QUERY_INVALID")
        refused(service.get(path, params={"last_event_id": last}), 400, "QUERY_INVALID")


def test_hostile_agents(service: RunningService) -> None:
    """What tools print is never taken for the assistant's word, and escapes are made visible where they are shown."""
    run_id = service.create("hostile", execution_mode="interactive")
    assert service.wait(run_id, "waiting_user")["status"] == "waiting_user"
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()["pending"]
    assert pending["prompt"] == "\x1b[31mRed\u202e or blue?"
    assert pending["display_prompt"] == "\\u{1b}[31mRed\\u{202e} or blue?"
