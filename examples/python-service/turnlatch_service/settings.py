"""What the service is told on its command line and in its environment."""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_EXAMPLES = Path(__file__).resolve().parents[2]
TOKEN = "TURNLATCH_TOKEN"
"""The environment variable with the token that clients have to know."""
SHARED = _EXAMPLES / "service"
"""What both services share: the API's description, the engine table, the scripted agent, the skills."""


class SettingsInvalid(Exception):
    """The service cannot start like this."""


@dataclass(frozen=True)
class Settings:
    """Where to listen, what to serve, and how much at a time."""

    host: str
    port: int
    data: Path
    skills: Path
    engines: Path
    console: Path
    slots: int
    token: str | None

    @property
    def on_loopback(self) -> bool:
        """Whether only programs of this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_settings(arguments: Sequence[str] | None, environment: Mapping[str, str]) -> Settings:
    """Reads the command line; wrong options end the program as argparse does, with status 2."""
    parser = argparse.ArgumentParser("turnlatch-service", description="Serves turnlatch runs over HTTP.")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; anything but loopback needs a token")
    parser.add_argument("--port", type=_port, default=8642, help="0 chooses a free one")
    parser.add_argument(
        "--data", type=Path, default=Path("turnlatch-data"), help="the folder that everything is kept in"
    )
    parser.add_argument("--skills", type=Path, default=SHARED / "skills", help="the folder of skills")
    parser.add_argument("--engines", type=Path, default=SHARED / "engines.json", help="the engine table")
    parser.add_argument("--console", type=Path, default=_EXAMPLES / "console/dist", help="the built console")
    parser.add_argument("--slots", type=_slots, default=2, help="how many turns run at a time")
    given = parser.parse_args(arguments)
    token = environment.get(TOKEN) or None
    settings = Settings(
        host=given.host,
        port=given.port,
        data=given.data.absolute(),
        skills=given.skills.absolute(),
        engines=given.engines.absolute(),
        console=given.console.absolute(),
        slots=given.slots,
        token=token,
    )
    if not settings.on_loopback and token is None:
        raise SettingsInvalid(f"{given.host} can be reached from outside: set {TOKEN}, or use 127.0.0.1")
    return settings


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise ValueError
    return port


def _slots(text: str) -> int:
    slots = int(text)
    if not 1 <= slots <= 1000:
        raise ValueError
    return slots
