"""Runs on DBOS: one machine with SQLite, many with PostgreSQL. Install it with ``pip install turnlatch[dbos]``.

A run is a row. A turn is a workflow on a queue whose global limit is the number of slots, and a timer is a delayed
workflow. One transaction takes an event, saves what the core made of it and enqueues what follows.
"""

try:
    from .driver import DbosDriver
    from .ledger import Change
    from .workflows import SlotUse
except ModuleNotFoundError as error:
    if error.name not in ("dbos", "psycopg", "sqlalchemy"):
        raise
    raise ImportError("turnlatch.hosts.dbos needs DBOS: pip install turnlatch[dbos]", name="dbos") from error

__all__ = ["Change", "DbosDriver", "SlotUse"]
