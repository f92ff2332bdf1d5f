"""What a transaction does when the connection to the database is lost at its end."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from hosting import plan
from turnlatch import EventRejectedError, StoreConflictError
from turnlatch.hosts.dbos.advance import telling

from .database_side import DatabaseSide


@pytest.fixture
def side(tmp_path: Path) -> Generator[DatabaseSide, None, None]:
    made = DatabaseSide(tmp_path / "runs.db")
    yield made
    made.close()


def lose_the_next_connection(side: DatabaseSide, committed: bool) -> None:
    """The next transaction fails at its end, after or before the database has committed it."""
    honest, lost = side.database.transaction, OperationalError("COMMIT", None, Exception("the connection was lost"))
    losses = [lost]

    @contextmanager
    def losing() -> Generator[sa.Connection, None, None]:
        with honest() as db:
            yield db
            if losses and not committed:
                raise losses.pop()
        if losses:
            raise losses.pop()

    side.database.transaction = losing  # type: ignore[method-assign]


@pytest.mark.parametrize("committed", [True, False])
def test_every_reply_has_the_receipt_that_it_was_given(side: DatabaseSide, committed: bool) -> None:
    lose_the_next_connection(side, committed)
    side.advance.create(plan("r1"))
    with pytest.raises(StoreConflictError, match="RUN_EXISTS"):
        side.advance.create(plan("r1"))
    side.advance.change("r1", telling({"type": "slot_granted", "slot_id": "r1/s1"}))
    lose_the_next_connection(side, committed)
    asked = side.advance.change("r1", telling({"type": "turn_finished", "attempt_number": 1, "text": "Which file?"}))
    assert (asked.run.status, asked.run.revision) == ("waiting_user", 3)
    lose_the_next_connection(side, committed)
    taken = side.advance.change("r1", lambda run, now: run.reply(1, "b.txt", now))
    assert taken.applied.receipt is not None
    assert taken.applied.receipt["kind"] == "accepted"
    assert (taken.run.revision, len(taken.run.history())) == (4, 1)
    lines = side.advance.read(lambda db: side.tables.lines(db, "r1", 0))
    assert len(lines) == 4


def test_a_refused_event_is_not_tried_again(side: DatabaseSide) -> None:
    side.advance.create(plan("r1"))
    tries: list[int] = []

    def refused(run: object, now: int) -> object:
        tries.append(now)
        raise EventRejectedError("EVENT_MALFORMED", "no")

    with pytest.raises(EventRejectedError):
        side.advance.change("r1", refused)  # type: ignore[arg-type]
    assert len(tries) == 1
