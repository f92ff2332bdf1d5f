"""A copy of the data that was made while the service worked is a service of that moment."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from conftest import StartService
from running import RunningService
from test_bad_input import refused


def back_up(service: RunningService, to: Path) -> None:
    """As docs/operations.md says: first the database, then the folders of the runs that are in it."""
    to.mkdir()
    with (
        closing(sqlite3.connect(service.data / "turnlatch.sqlite")) as source,
        closing(sqlite3.connect(to / "turnlatch.sqlite")) as target,
    ):
        source.backup(target)
    shutil.copytree(service.data / "runs", to / "runs")


def test_what_came_after_the_backup_is_gone_and_can_be_found_out(start_service: StartService, tmp_path: Path) -> None:
    service = start_service("--log", "json")
    for run_id in ("asked", "answered"):
        service.create("ask-once", run_id=run_id, execution_mode="interactive")
        service.wait(run_id, "waiting_user")
    back_up(service, tmp_path / "copy")
    assert service.reply("answered", 1, "b.txt", idempotency_key="k").status_code == 200
    after = service.wait("answered")
    assert after["status"] == "succeeded"
    service.kill()

    restored = start_service(data=tmp_path / "copy")
    steps = [json.loads(line) for line in service.said().splitlines()]
    newest = {step["run_id"]: step["revision"] for step in steps if "revision" in step}
    behind = [run_id for run_id, revision in newest.items() if restored.view(run_id)["revision"] < revision]
    assert behind == ["answered"], "the log says which runs went on after the copy was made"

    assert restored.view("answered")["status"] == "waiting_user"
    answer = restored.reply("answered", 1, "b.txt", expected_revision=after["revision"])
    refused(answer, 409, "REVISION_CONFLICT")
    for run_id in ("asked", "answered"):
        assert restored.reply(run_id, 1, "b.txt", idempotency_key="k").json()["kind"] == "accepted"
        assert restored.wait(run_id)["data"] == {"file": "b.txt"}
