"""The API's description is right: schemathesis makes requests of it and checks what comes back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from conftest import StartService
from running import ROOT, RunningService

DESCRIPTION = ROOT / "examples/service/openapi.json"


def test_the_description_is_served(service: RunningService) -> None:
    assert service.get("/v1/openapi.json").content == DESCRIPTION.read_bytes()


def test_what_comes_back_is_as_described(start_service: StartService, tmp_path: Path) -> None:
    service = start_service("--slots", "4")
    # Streams that never end are not for this tool; test_streams.py reads them.
    described = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    del described["paths"]["/v1/events"]
    del described["paths"]["/v1/jobs/{run_id}/events"]
    (tmp_path / "openapi.json").write_text(json.dumps(described))
    run_id = service.create("ask-twice", execution_mode="interactive", run_id="known")
    service.wait(run_id, "waiting_user")
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run", str(tmp_path / "openapi.json")),
        *("--url", service.url, "--checks", "all", "--exclude-checks", "positive_data_acceptance"),
        *("--max-examples", "25", "--seed", "1", "--no-color", "--generation-database", "none"),
    ]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert service.get("/v1/health").json()["status"] == "ok"
