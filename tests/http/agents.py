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
    lives_on: bool = False  # the same program can wait for a reply; others need one more for that


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


def _claude(_home: Path, url: str) -> dict[str, str]:
    # As root it runs without asking only where it is told to be in a sandbox.
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "0", "IS_SANDBOX": "1"}
    return {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": url, **quiet}


def _qwen(home: Path, url: str) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    (home / ".qwen").mkdir()
    (home / ".qwen/settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "mock"}


def _opencode(home: Path, url: str) -> dict[str, str]:
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"}}
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "mock/mock",
        "small_model": "mock/mock",
        "enabled_providers": ["mock"],
        "provider": {"mock": {**provider, "models": {"mock": {}}}},
        "permission": {"bash": "allow"},
    }
    (home / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"OPENCODE_CONFIG": str(home / "opencode.json")}


def _pi(home: Path, url: str) -> dict[str, str]:
    model = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "dummy", "models": [{"id": "mock"}]}
    folder = home / ".pi"
    folder.mkdir()
    (folder / "models.json").write_text(json.dumps({"providers": {"mock": model}}), encoding="utf-8")
    settings = {"retry": {"enabled": False}, "defaultProvider": "mock", "defaultModel": "mock"}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {"PI_CODING_AGENT_DIR": str(folder), "PI_OFFLINE": "1"}


CODEX = Agent("codex", _codex)
GEMINI = Agent("gemini", _gemini, lives_on=True)
# Others are tested where somebody has their programs on the path and names them: they are large, or not free.
OTHERS = [
    Agent("claude", _claude, lives_on=True),
    Agent("qwen", _qwen, lives_on=True),
    Agent("opencode", _opencode, lives_on=True),
    Agent("pi", _pi),
]
WANTED = os.environ.get("TURNLATCH_TEST_AGENTS", "").split(",")
TESTED = [CODEX, GEMINI, *(agent for agent in OTHERS if agent.name in WANTED)]
