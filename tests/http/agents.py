"""Real agent programs on a model that follows a script: everything but the model is what users have."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from running import ROOT

PROGRAMS = ROOT / "tests/agents/node_modules/.bin"
ENGINES = ROOT / "examples/service/engines.json"
_SERVER = ROOT / "tests/model-server/main.mjs"


@dataclass(frozen=True)
class Agent:
    """An agent program, and how it is told where its model is. The commands are those of the services' own table."""

    name: str
    configure: Callable[[Path, str], dict[str, str]]  # writes settings into a home; the environment besides


@dataclass
class Model:
    """A model that plays a script, and what it was asked."""

    url: str
    log: Path

    def asked(self) -> list[dict[str, Any]]:
        """The requests that played a step, in order."""
        requests = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return [request for request in requests if request["step"] is not None]


@contextmanager
def model(folder: Path, steps: list[dict[str, Any]]) -> Iterator[Model]:
    """Starts a model on loopback for one test."""
    script, log = folder / "script.json", folder / "model.log"
    script.write_text(json.dumps({"steps": steps}), encoding="utf-8")
    log.touch()
    command = ["node", str(_SERVER), "--script", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        try:
            yield Model(f"http://127.0.0.1:{port}", log)
        finally:
            process.terminate()


def environment(agent: Agent, home: Path, url: str) -> dict[str, str]:
    """What the service is given in its environment, so that its agents find their settings and their model."""
    assert PROGRAMS.is_dir(), "the agents are not there: make setup-agents"
    home.mkdir()
    path = f"{PROGRAMS}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), **agent.configure(home, url)}


def _codex(home: Path, url: str) -> dict[str, str]:
    folder = home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(
        f"""
model = "mock"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[features]
plugins = false
apps = false
unbounded_connection_retries = false
[analytics]
enabled = false
""",
        encoding="utf-8",
    )
    return {"OPENAI_API_KEY": "dummy"}


def _gemini(home: Path, url: str) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "maxAttempts": 1, "retryFetchErrors": False},
    }
    folder = home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"GEMINI_API_KEY": "dummy", "GEMINI_MODEL": "gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL": url}


CODEX = Agent("codex", _codex)
GEMINI = Agent("gemini", _gemini)
