"""Starts the service: `python -m turnlatch_service --help`."""

from __future__ import annotations

import asyncio
import os
import sys

from .log import log_to_stderr
from .settings import SettingsInvalid, read_settings


def main() -> None:
    """Serves until SIGTERM or SIGINT."""
    log_to_stderr()
    try:
        settings = read_settings(None, os.environ)
        log_to_stderr(settings.log)
        # Imported here because it takes long, and whoever asks for help or gives wrong options need not wait for it.
        from .server import serve

        asyncio.run(serve(settings))
    except SettingsInvalid as invalid:
        print(f"turnlatch-service: {invalid}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
