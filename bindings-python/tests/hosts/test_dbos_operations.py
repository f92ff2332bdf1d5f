"""What docs/operations.md says of upgrades and of copies of the database."""

from __future__ import annotations

from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

from dbos import DBOS, error

from hosting import plan
from turnlatch.hosts.dbos import DbosDriver

from .postgres import Postgres
from .test_dbos_runs import drive


async def ask(driver: DbosDriver) -> None:
    await driver.start(plan("ask-1"))
    await driver.wait("ask-1", "waiting_user")
    await driver.settled("ask-1")


async def answer(driver: DbosDriver) -> None:
    assert (await driver.reply("ask-1", 1, "c.txt"))["kind"] == "accepted"
    assert (await driver.wait("ask-1"))["data"] == {"file": "c.txt"}
    await driver.settled("ask-1")


def test_a_waiting_run_goes_on_under_the_version_that_takes_its_reply(place: dict[str, Any], tmp_path: Path) -> None:
    drive(place, tmp_path, ask, application_version="old")
    drive(place, tmp_path, answer, application_version="new")


def test_what_a_cancel_or_the_engine_ends_is_no_error_in_the_log(place: dict[str, Any], tmp_path: Path) -> None:
    logged = BufferingHandler(capacity=10)

    async def log(_: DbosDriver) -> None:
        DBOS.logger.addHandler(logged)
        DBOS.logger.error("as DBOS does it", exc_info=error.DBOSAwaitedWorkflowCancelledError("run-1/s1"))
        DBOS.logger.error("a failure", exc_info=ValueError("of another kind"))
        DBOS.logger.error("a failure of DBOS", exc_info=error.DBOSException("while it works"))

    drive(place, tmp_path, log)
    # A thread that waits for a workflow's outcome may outlive the engine.
    DBOS.logger.error("the end of a thread", exc_info=error.DBOSException("System database accessed before launch"))
    DBOS.logger.removeHandler(logged)
    assert [record.getMessage() for record in logged.buffer] == ["a failure", "a failure of DBOS"]


def test_a_dump_is_a_host_of_that_moment(postgres: Postgres, tmp_path: Path) -> None:
    first, second = postgres.database(), postgres.database()
    drive({"database_url": first}, tmp_path, ask)
    dump = postgres.folder / "runs.dump"
    postgres.run("pg_dump", "--format=custom", f"--file={dump}", f"--dbname={first}")
    drive({"database_url": first}, tmp_path, answer)
    postgres.run("pg_restore", f"--dbname={second}", str(dump))

    async def again(driver: DbosDriver) -> None:
        run = await driver.run("ask-1")
        assert (run.status, run.revision) == ("waiting_user", 3)
        await answer(driver)

    drive({"database_url": second}, tmp_path, again)
