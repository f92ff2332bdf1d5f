"""The list of jobs: what may be asked, and one page of it."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, get_args
from urllib.parse import parse_qsl

from turnlatch import LoadError, Run, types

from .errors import NotServed, compact
from .log import log
from .skills import is_skill_name

_LIMIT, _MOST = 50, 200
_KEPT_VIEWS = 10_000

Place = tuple[Any, ...]
"""Where a run stands in the order of a database's own."""


@dataclass(frozen=True)
class ListQuery:
    """Which jobs are wanted; ``None`` means all."""

    statuses: frozenset[str] | None = None
    skill: str | None = None
    engine: str | None = None
    limit: int = _LIMIT
    before: str | None = None


class JobRow(NamedTuple):
    """A run in the list, before the core is asked about it."""

    place: Place
    run_id: str
    revision: int
    skill: str


class Rows(Protocol):
    """Where pages are read from."""

    def place(self, run_id: str) -> Place | None:
        """Where a run stands among all; ``None`` if there is none of this id."""
        ...

    def before(self, place: Place | None, skill: str | None) -> list[JobRow]:
        """The next runs of a skill, or of all, newest first; none if there are no more."""
        ...

    def snapshot(self, run_id: str) -> str:
        """The snapshot of a run that is there."""
        ...


def read_members(query: bytes, *known: str) -> dict[str, str]:
    """The members of a query string, each at most once, or ``QUERY_INVALID``."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=len(known) + 1)
    except ValueError:
        raise NotServed("QUERY_INVALID", "the query cannot be read") from None
    members = dict(pairs)
    if len(members) < len(pairs) or not members.keys() <= set(known):
        expected = ", ".join(known)
        raise NotServed("QUERY_INVALID", f"the query has each of these members at most once, and no others: {expected}")
    return members


def read_list_query(query: bytes) -> ListQuery:
    """The query string of `GET /v1/jobs`."""
    members = read_members(query, "status", "skill", "engine", "limit", "before")
    statuses = frozenset(members["status"].split(",")) if "status" in members else None
    if statuses is not None and not statuses <= set(get_args(types.Status)):
        raise NotServed("QUERY_INVALID", f"status is a list of {', '.join(get_args(types.Status))}")
    skill = members.get("skill")
    if skill is not None and not is_skill_name(skill):
        raise NotServed("QUERY_INVALID", "skill is not the name of a skill")
    limit = members.get("limit", str(_LIMIT))
    if not (limit.isascii() and limit.isdigit() and len(limit) < 4 and 1 <= int(limit) <= _MOST):
        raise NotServed("QUERY_INVALID", f"limit is a whole number from 1 to {_MOST}")
    return ListQuery(statuses, skill, members.get("engine"), int(limit), members.get("before"))


class Listing:
    """Makes pages of jobs, newest first. What a run looks like comes from the core, once for each revision."""

    def __init__(self) -> None:
        self._views: OrderedDict[str, tuple[int, dict[str, Any]]] = OrderedDict()

    def page(self, rows: Rows, query: ListQuery) -> str:
        """One page as JSON text. To be called on one thread at a time."""
        jobs: list[dict[str, Any]] = []
        more = None
        for skill, view in self._newest(rows, query):
            if (query.statuses is None or view["status"] in query.statuses) and query.engine in (None, view["engine"]):
                if len(jobs) == query.limit:
                    more = jobs[-1]["view"]["run_id"]
                    break
                jobs.append({"skill": skill, "view": view})
        return compact({"jobs": jobs, "next": more})

    def _newest(self, rows: Rows, query: ListQuery) -> Iterator[tuple[str, dict[str, Any]]]:
        place = None if query.before is None else rows.place(query.before)
        if query.before is not None and place is None:
            raise NotServed("QUERY_INVALID", "before is not the id of a run")
        while found := rows.before(place, query.skill):
            for row in found:
                try:
                    yield row.skill, self._view(rows, row.run_id, row.revision)
                except LoadError as error:
                    # One damaged run must not hide all others; asked for by its id, it says what is wrong.
                    log.warning("run %s is not listed: %s", row.run_id, error)
            place = found[-1].place

    def _view(self, rows: Rows, run_id: str, revision: int) -> dict[str, Any]:
        kept = self._views.get(run_id)
        if kept is None or kept[0] != revision:
            run = Run.from_json(rows.snapshot(run_id))
            view = json.loads(run.status_view_json())
            # Results can be megabytes; a list is not the place for them.
            view.pop("data", None)
            view.pop("data_text", None)
            kept = self._views[run_id] = (run.revision, view)
        self._views.move_to_end(run_id)
        if len(self._views) > _KEPT_VIEWS:
            self._views.popitem(last=False)
        return kept[1]
