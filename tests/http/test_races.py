"""Many at once: exactly one wins, and everybody else is told why."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx
import pytest

from running import RunningService

pytestmark = pytest.mark.every_engine

CLIENTS = 50


def test_fifty_replies(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    ready = Barrier(CLIENTS)

    def answer(number: int) -> httpx.Response:
        with service.client() as client:
            client.get("/v1/health")  # the connection is there before the race begins
            ready.wait()
            body = {"interaction_id": 1, "response": f"answer {number}"}
            return client.post(f"/v1/jobs/{run_id}/interaction/reply", json=body)

    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(answer, range(CLIENTS)))
    winners = [number for number, told in enumerate(answers) if told.status_code == 200]
    assert len(winners) == 1
    assert answers[winners[0]].json()["kind"] == "accepted"
    losers = [told.json()["error"] for told in answers if told.status_code == 409]
    assert Counter(error["code"] for error in losers) == {"STALE_INTERACTION": CLIENTS - 1}
    assert {error["details"]["resolved"]["resolved_by"] for error in losers} == {"user"}
    assert service.wait(run_id)["data"] == {"file": f"answer {winners[0]}"}
    [record] = service.get(f"/v1/jobs/{run_id}/interaction/history").json()["history"]
    assert record["response"] == f"answer {winners[0]}"


def test_one_key_many_times(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")

    def answer(_: int) -> str:
        told = service.reply(run_id, 1, "b.txt", idempotency_key="k")
        assert told.status_code == 200
        return str(told.json()["kind"])

    with ThreadPoolExecutor(10) as clients:
        assert Counter(clients.map(answer, range(10))) == {"accepted": 1, "duplicate": 9}


def test_one_id_for_many_jobs(service: RunningService) -> None:
    skills = ["ask-once", "soft"]

    def create(number: int) -> tuple[int, str]:
        skill = skills[number % 2]
        body = {"skill": skill, "engine": "scripted", "execution_mode": "interactive", "run_id": "wanted-by-many"}
        return service.post("/v1/jobs", body).status_code, skill

    with ThreadPoolExecutor(10) as clients:
        told = list(clients.map(create, range(10)))
    assert Counter(status for status, _ in told) == {201: 1, 409: 9}
    [winner] = [skill for status, skill in told if status == 201]
    jobs = service.get("/v1/jobs").json()["jobs"]
    assert [job["skill"] for job in jobs if job["view"]["run_id"] == "wanted-by-many"] == [winner]
    status = service.wait("wanted-by-many", "waiting_user")["status"]
    assert status == {"ask-once": "waiting_user", "soft": "succeeded"}[winner], "its folder is the winner's too"


def test_cancel_against_reply(service: RunningService) -> None:
    run_id = service.create("ask-once", execution_mode="interactive")
    service.wait(run_id, "waiting_user")
    with ThreadPoolExecutor(2) as clients:
        reply = clients.submit(service.reply, run_id, 1, "b.txt")
        cancel = clients.submit(service.post, f"/v1/jobs/{run_id}/cancel")
    codes = {"STALE_INTERACTION", "RUN_NOT_WAITING_USER"}
    assert reply.result().status_code == 200 or reply.result().json()["error"]["code"] in codes
    view = service.wait(run_id)
    assert view["status"] == ("canceled" if cancel.result().status_code == 200 else "succeeded")


def test_more_runs_than_slots(service: RunningService) -> None:
    run_ids = [service.create("direct") for _ in range(12)]
    assert {service.wait(run_id)["status"] for run_id in run_ids} == {"succeeded"}
