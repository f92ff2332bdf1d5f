"""A number for every journal line, given when somebody asks, so that nobody who changes a run has to wait for it.

A follower of all runs goes on after the last number it has seen, so a line must never get a number below one that
could be seen before it. A number that is drawn when a line is written does not do: who draws first may commit last. So
lines are written without one, and whoever wants to read numbers first gives some, under a lock, to all that are there.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from .advance import Advance
from .tables import LEDGER_LOCK, Tables

_AT_ONCE = 5000  # lines in one transaction

_LAST = "SELECT COALESCE(MAX(number), 0) FROM turnlatch_journal"
_UNNUMBERED = "SELECT 1 FROM turnlatch_journal WHERE number IS NULL LIMIT 1"
# Of one run, lines were written one after the other, so that their places are in order.
_NUMBER = """UPDATE turnlatch_journal SET number = fresh.number FROM (
    SELECT place, CAST(:last AS BIGINT) + ROW_NUMBER() OVER (ORDER BY place) AS number FROM (
        SELECT place FROM turnlatch_journal WHERE number IS NULL ORDER BY place LIMIT :most
    ) AS unnumbered
) AS fresh WHERE turnlatch_journal.place = fresh.place"""
_AFTER = "SELECT number, run_id, revision FROM turnlatch_journal WHERE number > :number ORDER BY number LIMIT :most"


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of one run's journal, by its place among all entries."""

    number: int
    run_id: str
    revision: int


class Ledger:
    """Every method is called on a thread."""

    def __init__(self, advance: Advance, tables: Tables) -> None:
        self._advance = advance
        self._tables = tables

    def last_change(self) -> int:
        """The number of the newest change."""
        self._give_numbers()
        return self._advance.read(lambda db: int(db.exec_driver_sql(_LAST).scalar_one()))

    def changes_after(self, number: int, most: int) -> list[Change]:
        """The next changes, in an order in which none can appear later before one of them."""
        self._give_numbers()
        values = {"number": number, "most": most}
        return self._advance.read(lambda db: [Change(*row) for row in db.execute(sa.text(_AFTER), values)])

    def _give_numbers(self) -> None:
        while self._advance.read(lambda db: _any(db, _UNNUMBERED)):
            self._advance.write(self._number_some)

    def _number_some(self, db: sa.Connection) -> None:
        self._tables.advisory_lock(db, LEDGER_LOCK)
        # Asked under the lock, by a statement of its own: it sees every number that was given before.
        last = int(db.exec_driver_sql(_LAST).scalar_one())
        db.execute(sa.text(_NUMBER), {"last": last, "most": _AT_ONCE})


def _any(db: sa.Connection, query: str) -> bool:
    return db.exec_driver_sql(query).first() is not None
