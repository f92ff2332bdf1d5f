"""One line on stderr for each event, with whatever strangers wrote in it made visible."""

from __future__ import annotations

import logging
import sys

from turnlatch import display_text

log = logging.getLogger("turnlatch.service")


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record).encode(errors="backslashreplace").decode()
        return display_text(text.replace("\n", "\\n").replace("\t", "\\t"))


def log_to_stderr() -> None:
    """Sends the events of the service, what drives the runs and the HTTP server to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # DBOS brings a handler of its own if it has none. What it tells of its own life is no news.
    logging.getLogger("dbos").addHandler(logging.NullHandler())
    logging.getLogger("dbos").setLevel(logging.WARNING)
    # What the HTTP server tells about its own life would be told twice.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
