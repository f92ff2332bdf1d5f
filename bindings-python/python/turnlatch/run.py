"""Admission, runs and journals: the core with Python's types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, cast

from . import _core, types
from .errors import EventRejectedError

Time = int | datetime
"""Milliseconds since the Unix epoch, or a datetime that knows its time zone."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def to_millis(now: Time) -> int:
    """Milliseconds since the epoch. A datetime without a time zone is refused: nobody can know what it means."""
    if isinstance(now, datetime):
        if now.tzinfo is None or now.utcoffset() is None:
            raise ValueError("a datetime needs a time zone, for example datetime.now(timezone.utc)")
        return (now - _EPOCH) // timedelta(milliseconds=1)
    return now


@dataclass(frozen=True, slots=True)
class Skill:
    """What a skill declares: its ``runner.json`` and its schemas. Text is taken as it is, a dict as its JSON text."""

    runner: str | types.RunnerManifest
    output_schema: str | Mapping[str, Any] | bool | None = None
    input_schema: str | Mapping[str, Any] | bool | None = None
    parameter_schema: str | Mapping[str, Any] | bool | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """An admitted run's settings."""

    _core: _core.Plan

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._core.run_id

    @property
    def warnings(self) -> list[types.Note]:
        """What admission warned of."""
        return cast("list[types.Note]", self._core.to_dict()["warnings"])

    def to_dict(self) -> dict[str, Any]:
        """Every setting, as a snapshot holds it."""
        return self._core.to_dict()


Entry = _core.Entry


@dataclass(frozen=True, slots=True)
class Transition:
    """What came of an event. Save the run, then perform ``effects`` in order."""

    effects: list[types.Effect]
    receipt: types.Receipt | None
    entry: Entry | None
    _observation: _core.Observation | None = field(default=None, repr=False, compare=False)

    @property
    def observation(self) -> types.Observation | None:
        """What is worth measuring of it, without a word of a user or an agent; ``None`` if the event was ignored.
        Pass it on once the run is saved."""
        return None if self._observation is None else cast("types.Observation", self._observation.to_dict())


def admit(
    manifest: Skill,
    request: str | types.RunRequest,
    *,
    engines: Iterable[str],
    limits: types.Limits | None = None,
) -> Plan:
    """Makes a plan of a skill and a request, or raises :class:`turnlatch.AdmissionError` with every problem."""
    if isinstance(engines, str):
        raise TypeError("engines is a list of names, not one text")
    return Plan(
        _core.admit(
            _text(manifest.runner),
            _text(request),
            list(engines),
            _optional_text(manifest.output_schema),
            _optional_text(manifest.input_schema),
            _optional_text(manifest.parameter_schema),
            limits,
        )
    )


@dataclass(frozen=True, slots=True)
class Job:
    """A client's request for a new run: the skill's name, the run's id, and the rest as text for :func:`admit`."""

    skill: str
    run_id: str
    request: str


def read_job(body: str, run_id: str) -> Job:
    """Reads the body of a request for a new run, or raises :class:`turnlatch.AdmissionError`. ``run_id`` is for a
    client that has chosen none."""
    return Job(*_core.read_job(_text(body), run_id))


def request_event(kind: Literal["reply", "cancel"], body: str) -> types.RunEvent:
    """Reads the body of a request to a run as its event, or raises :class:`turnlatch.EventRejectedError`."""
    return cast("types.RunEvent", _core.request_event(kind, _text(body)))


def describe_skill(
    manifest: Skill, *, engines: Iterable[str], limits: types.Limits | None = None
) -> types.SkillView:
    """What can be asked of a skill, without a request."""
    schemas = (manifest.output_schema, manifest.input_schema, manifest.parameter_schema)
    output_schema, input_schema, parameter_schema = map(_optional_text, schemas)
    texts = (output_schema, input_schema, parameter_schema)
    return cast("types.SkillView", _core.describe_skill(_text(manifest.runner), list(engines), texts, limits))


class Run:
    """One execution of a skill for one request. Safe to use from several threads."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.Run) -> None:
        """Use :meth:`create` or :meth:`from_json`."""
        self._core = core

    @classmethod
    def create(cls, plan: Plan, now: Time) -> tuple[Run, Transition]:
        """Makes a run of an admitted plan. It is queued and asks for its first slot."""
        run, applied = _core.Run.create(plan._core, to_millis(now))
        return cls(run), Transition(*applied)

    @classmethod
    def from_json(cls, snapshot: str) -> Run:
        """Reads a snapshot back, or raises :class:`turnlatch.LoadError`."""
        return cls(_core.Run.restore(snapshot))

    @classmethod
    def first(cls, plan: Plan, line: str) -> tuple[Run, types.TimelineEntry]:
        """Makes a run again from its plan and the first line of its journal; :meth:`follow` takes the others."""
        run, step = cls.first_json(plan, line)
        return run, cast("types.TimelineEntry", json.loads(step))

    @classmethod
    def first_json(cls, plan: Plan, line: str) -> tuple[Run, str]:
        """The same with the step as JSON text: what to send to a client."""
        run, step = _core.Run.first(plan._core, line)
        return cls(run), step

    def follow(self, line: str) -> types.TimelineEntry:
        """Does what the next line of the journal says was done, or raises :class:`turnlatch.LoadError`."""
        return cast("types.TimelineEntry", json.loads(self.follow_json(line)))

    def follow_json(self, line: str) -> str:
        """The same with the step as JSON text: what to send to a client."""
        return self._core.follow(line)

    def to_json(self) -> str:
        """The run as canonical JSON text: the same run gives the same text, in every language."""
        return self._core.snapshot()

    def copy(self) -> Run:
        """A run of its own in the same state: what is applied to one does not change the other."""
        return Run(self._core.copy())

    def __copy__(self) -> Run:
        return self.copy()

    def __deepcopy__(self, _memo: dict[int, Any]) -> Run:
        return self.copy()

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Run.from_json, (self.to_json(),)

    def snapshot(self) -> dict[str, Any]:
        """The run as data."""
        return cast("dict[str, Any]", json.loads(self._core.snapshot()))

    def apply(self, event: types.RunEvent, now: Time) -> Transition:
        """Applies one event. A reply or cancel that is refused changes nothing, and its receipt has a ``code``. Raises
        :class:`turnlatch.EventRejectedError` for a malformed event and leaves the run as it was."""
        at = to_millis(now)
        try:
            return Transition(*self._core.apply(event, at))
        except EventRejectedError as rejected:
            self._observe(rejected, event, at)
            raise

    def apply_json(self, event: str, now: Time) -> Transition:
        """Applies one event given as JSON text."""
        at = to_millis(now)
        try:
            return Transition(*self._core.apply_json(event, at))
        except EventRejectedError as rejected:
            self._observe(rejected, _read_or_none(event), at)
            raise

    def _observe(self, rejected: EventRejectedError, event: object, now: int) -> None:
        name = cast("Mapping[str, Any]", event).get("type") if isinstance(event, Mapping) else None
        observation = self._core.observe_rejected(name if isinstance(name, str) else "", rejected.code, now)
        rejected.observation = cast("types.Observation", observation.to_dict())

    def reply(
        self,
        interaction_id: int,
        response: Any,
        now: Time,
        *,
        idempotency_key: str | None = None,
        expected_revision: int | None = None,
    ) -> Transition:
        """Takes a reply. Whatever becomes of it, ``receipt`` says so; only a malformed reply raises."""
        event: dict[str, Any] = {"type": "reply", "interaction_id": interaction_id, "response": response}
        if idempotency_key is not None:
            event["idempotency_key"] = idempotency_key
        if expected_revision is not None:
            event["expected_revision"] = expected_revision
        return self.apply(cast("types.RunEvent", event), now)

    def cancel(self, now: Time, reason: str | None = None) -> Transition:
        """Ends the run. ``receipt`` is ``canceled``, or ``already_ended``."""
        event: dict[str, Any] = {"type": "cancel"}
        if reason is not None:
            event["reason"] = reason
        return self.apply(cast("types.RunEvent", event), now)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._core.run_id

    @property
    def plan(self) -> Plan:
        """The settings it was admitted with."""
        return Plan(self._core.plan)

    @property
    def status(self) -> types.Status:
        """Where the run is."""
        return cast("types.Status", self._core.status)

    @property
    def revision(self) -> int:
        """How many events have changed it."""
        return self._core.revision

    @property
    def attempt_number(self) -> int:
        """The number of the last turn that started; 0 before the first."""
        return self._core.attempt_number

    @property
    def session_handle(self) -> str | None:
        """The last good handle of the agent's session."""
        return self._core.session_handle

    @property
    def ended(self) -> bool:
        """Whether nothing can happen to it any more."""
        return self._core.ended

    def status_view(self) -> types.StatusView:
        """The run as a client sees it."""
        return cast("types.StatusView", json.loads(self._core.status_view()))

    def status_view_json(self) -> str:
        """The same as JSON text, exact to the last digit: what to send to a client."""
        return self._core.status_view()

    def pending_view(self) -> types.PendingView:
        """The pending question as a client sees it, or ``None`` in its place."""
        return cast("types.PendingView", json.loads(self._core.pending_view()))

    def pending_view_json(self) -> str:
        """The same as JSON text: what to send to a client."""
        return self._core.pending_view()

    def history(self) -> list[types.InteractionRecord]:
        """Every question that came to its end, in order."""
        return cast("list[types.InteractionRecord]", json.loads(self._core.history()))

    def history_json(self) -> str:
        """The same as JSON text: what to send to a client."""
        return self._core.history()

    def outstanding(self) -> types.PendingEffects:
        """What the host still owes, and what the run may still own: for the time after a crash. The effect that begins
        a turn is not among it, because it may have happened: only :meth:`after_restart` returns it."""
        return cast("types.PendingEffects", self._core.outstanding())

    def due(self, effect: types.Effect, failed: Sequence[types.Effect] = ()) -> types.EffectStatus:
        """Whether an effect is still to be performed; ``failed`` are those of this run that are tried again later."""
        return cast("types.EffectStatus", self._core.due(effect, list(failed)))

    def given_up(self, effect: types.Effect, *, begun: bool) -> types.RetriesExhausted:
        """What becomes of an effect that failed too often; ``begun`` says that it may have happened in part."""
        return cast("types.RetriesExhausted", self._core.given_up(effect, begun))

    def after_restart(self, *, begun: bool, process_alive: bool = False, slot_lost: bool = False) -> types.RecoveryPlan:
        """How to go on with a run that was loaded after a restart, from what the host still has of it. ``begun`` says
        that the effect ``outstanding()["turn_effect_id"]`` was noted as begun before the restart."""
        return cast("types.RecoveryPlan", self._core.after_restart(process_alive, begun, slot_lost))

    def allowed(self, now: Time) -> types.Allowed:
        """The requests that would be taken now, and for the others the reason."""
        return cast("types.Allowed", self._core.allowed(to_millis(now)))

    def explain(self) -> types.Explanation:
        """Why the run is where it is."""
        return cast("types.Explanation", json.loads(self._core.explain()))

    def explain_json(self) -> str:
        """The same as JSON text: what to send to a client."""
        return self._core.explain()

    def why_not(self, target: types.Status) -> types.WhyNot:
        """What keeps the run from a status."""
        return cast("types.WhyNot", self._core.why_not(target))

    def __repr__(self) -> str:
        return f"<turnlatch.Run {self.run_id} {self.status} revision {self.revision}>"


class Journal:
    """What happened to a run, in order and chained; it replays to the same run and the same effects."""

    __slots__ = ("_core",)

    def __init__(self, plan: Plan) -> None:
        self._core = _core.Journal(plan._core)

    @classmethod
    def from_json(cls, text: str) -> Journal:
        """Reads a journal back, or raises :class:`turnlatch.LoadError`."""
        return cls._of(_core.Journal.from_json(text))

    @classmethod
    def from_lines(cls, run_id: str, lines: Sequence[str]) -> Journal:
        """Reads a journal back from the texts of its entries (:meth:`Entry.encode_chained`)."""
        return cls._of(_core.Journal.from_lines(run_id, list(lines)))

    @classmethod
    def _of(cls, core: _core.Journal) -> Journal:
        journal = cls.__new__(cls)
        journal._core = core
        return journal

    def push(self, entry: Entry) -> None:
        """Appends what :meth:`Run.apply` gave."""
        self._core.push(entry)

    def to_json(self) -> str:
        """The journal as JSON text."""
        return self._core.to_json()

    def lines(self) -> list[str]:
        """The texts of its entries."""
        return self._core.lines()

    def __len__(self) -> int:
        return len(self._core)


def replay(plan: Plan, journal: Journal) -> tuple[Run, list[list[types.Effect]]]:
    """Makes a run again from its plan and journal, and gives every effect it told on the way."""
    run, effects = journal._core.replay(plan._core)
    return Run(run), effects


def record_json(plan: Plan, journal: Journal) -> str:
    """A journal together with its plan as JSON text: it can be replayed by itself."""
    return journal._core.to_record(plan._core)


def read_record(text: str) -> tuple[Plan, Journal]:
    """Reads a record back, or raises :class:`turnlatch.LoadError`."""
    plan, journal = _core.Journal.from_record(text)
    return Plan(plan), Journal._of(journal)


def evaluate_turn(plan: Plan, report: types.TurnReport) -> types.Evaluation:
    """Judges one turn by itself: the gate alone, without a run."""
    return cast("types.Evaluation", _core.evaluate_turn(plan._core, report))


def append_instructions(skill: str, mode: types.ExecutionMode, plan: Plan | None = None) -> str:
    """The skill's text with the instructions for this mode at its end, and the plan's output schema and artifacts."""
    return _core.append_instructions(skill, mode, None if plan is None else plan._core)


def codes() -> list[types.CodeInfo]:
    """Every stable code with its HTTP status, its meaning and what to do about it."""
    return cast("list[types.CodeInfo]", _core.codes())


def run_of_slot(slot_id: str) -> str | None:
    """The run that asked for this slot; ``None`` if no run can have."""
    return _core.run_of_slot(slot_id)


def unreadable_report(attempt_number: int, slot_id: str) -> types.TurnFinished:
    """What to tell of a turn that has ended, but whose report cannot be read."""
    return cast("types.TurnFinished", _core.unreadable_report(attempt_number, slot_id))


def display_text(text: str) -> str:
    """The text with terminal escapes, control and bidi characters made visible."""
    return _core.display_text(text)


def _text(document: str | Mapping[str, Any] | bool) -> str:
    """A document as text. Data is written as the core writes it: a plan holds the same text in every language."""
    if not isinstance(document, str):
        document = json.dumps(document, default=_members, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair is no text; as an escape it reaches the core, which refuses it by its code.
    return document.encode(errors="backslashreplace").decode()


def _read_or_none(text: object) -> Any:
    """What a text says, if it says anything."""
    try:
        return json.loads(cast("str", text))
    except (TypeError, ValueError, RecursionError):
        return None


def _members(document: object) -> dict[str, Any]:
    if isinstance(document, Mapping):
        return dict(cast("Mapping[str, Any]", document))
    raise TypeError(f"expected JSON data, found {type(document).__name__}")


def _optional_text(document: str | Mapping[str, Any] | bool | None) -> str | None:
    return None if document is None else _text(document)
