"""Admission, runs and journals: the core with Python's types."""

from __future__ import annotations

import copyreg
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Generic, Literal, cast

from . import _core, types
from .errors import EventRejectedError

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Model = TypeVar("Model", default=Any)
else:
    from typing import TypeVar

    Model = TypeVar("Model")

Time = int | datetime
"""Milliseconds since the Unix epoch, or a datetime that knows its time zone."""

Plan = _core.Plan
Entry = _core.Entry
Journal = _core.Journal

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def to_millis(now: Time) -> int:
    """Milliseconds since the epoch. A datetime without a time zone is refused: nobody can know what it means."""
    if isinstance(now, datetime):
        if now.tzinfo is None or now.utcoffset() is None:
            raise ValueError(f"`now` needs a time zone, as datetime.now(timezone.utc) has one; {now!r} has none")
        return (now - _EPOCH) // timedelta(milliseconds=1)
    return now


@dataclass(frozen=True)
class Skill(Generic[Model]):
    """What a skill declares: its ``runner.json`` and its schemas. Text is taken as it is, a dict as its JSON text.

    ``output`` is a pydantic model in place of an ``output_schema``: its JSON Schema decides about turns, and
    :meth:`parse` makes an instance of a result. The model's own validators do not decide about a run."""

    runner: str | types.RunnerManifest
    output_schema: str | Mapping[str, Any] | bool | None = None
    input_schema: str | Mapping[str, Any] | bool | None = None
    parameter_schema: str | Mapping[str, Any] | bool | None = None
    output: type[Model] | None = field(default=None, kw_only=True)
    _model_schema: Mapping[str, Any] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.output is None:
            return
        if self.output_schema is not None:
            raise TypeError("a skill has an `output_schema` or an `output` model, not both")
        json_schema: Any = getattr(self.output, "model_json_schema", None)
        if not isinstance(cast("object", self.output), type) or json_schema is None:
            raise TypeError(f"`output` is a pydantic model class, found {self.output!r}")
        object.__setattr__(self, "_model_schema", json_schema())

    def parse(self, view: types.StatusView) -> Model:
        """An instance of the ``output`` model, from the view of a run that has succeeded. What the model itself finds
        wrong raises pydantic's ``ValidationError``."""
        model = cast("Any", self.output)
        if model is None:
            raise TypeError("the skill has no `output` model")
        text = view.get("data_text")
        if text is None:
            raise ValueError(f"run {view['run_id']} is {view['status']}: there is no result to parse")
        return cast("Model", model.model_validate_json(text))


@dataclass(frozen=True, slots=True)
class Transition:
    """What came of an event. Save the run, then perform ``effects`` in order."""

    effects: list[types.Effect]
    receipt: types.Receipt | None
    entry: Entry | None
    _observation: _core.Observation | types.Observation | None = field(default=None, repr=False, compare=False)

    # It is frozen, but what it holds is not.
    __hash__ = None  # type: ignore[assignment]  # pyright: ignore

    @property
    def observation(self) -> types.Observation | None:
        """The metrics of the step, without a word of a user or an agent; ``None`` if the event was ignored.
        Pass it on once the run is saved."""
        held = self._observation
        return cast("types.Observation", held.to_dict()) if isinstance(held, _core.Observation) else held

    def __reduce__(self) -> tuple[Any, ...]:
        return Transition, (self.effects, self.receipt, self.entry, self.observation)


def admit(
    skill: Skill[Any],
    request: str | bytes | types.RunRequest,
    *,
    engines: Iterable[str],
    limits: types.Limits | None = None,
) -> Plan:
    """Makes a plan of a skill and a request, or raises :class:`turnlatch.AdmissionError` with every problem."""
    return _core.admit(_declared(skill), request, _host(engines, limits))


@dataclass(frozen=True, slots=True)
class Job:
    """A client's request for a new run: the skill's name, the run's id, and the rest as text for :func:`admit`."""

    skill: str
    run_id: str
    request: str


def read_job(body: str | bytes, run_id: str) -> Job:
    """Reads the body of a request for a new run, or raises :class:`turnlatch.AdmissionError`. ``run_id`` is for a
    client that has chosen none."""
    return Job(*_core.read_job(body, run_id))


def request_event(kind: Literal["reply", "cancel"], body: str | bytes) -> types.RunEvent:
    """Reads the body of a request to a run as its event, or raises :class:`turnlatch.EventRejectedError`."""
    return cast("types.RunEvent", _core.request_event(kind, body))


def describe_skill(skill: Skill[Any], *, engines: Iterable[str], limits: types.Limits | None = None) -> types.SkillView:
    """What can be asked of a skill, without a request."""
    return cast("types.SkillView", _core.describe_skill(_declared(skill), _host(engines, limits)))


def _declared(skill: Skill[Any]) -> tuple[Any, list[Any]]:
    if not isinstance(cast("object", skill), Skill):
        raise TypeError(f"expected a Skill, found {type(skill).__name__}")
    output_schema = skill.output_schema if skill.output is None else skill._model_schema
    return skill.runner, [output_schema, skill.input_schema, skill.parameter_schema]


def _host(engines: Iterable[str], limits: types.Limits | None) -> tuple[list[str], types.Limits | None]:
    if isinstance(engines, str):
        raise TypeError("`engines` is a list of names, not one string")
    return list(engines), limits


class Run:
    """One execution of a skill for one request. Safe to use from several threads. Runs are equal if their snapshots
    are. A run changes, so it is not hashable."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.Run) -> None:
        """Use :meth:`create` or :meth:`from_json`."""
        self._core = core

    @classmethod
    def create(cls, plan: Plan, now: Time) -> tuple[Run, Transition]:
        """Makes a run of an admitted plan. It is queued and asks for its first slot."""
        if not isinstance(cast("object", plan), Plan):
            raise TypeError(f"expected a Plan, which `admit` returns, found {type(plan).__name__}")
        run, applied = _core.Run.create(plan, to_millis(now))
        return cls(run), Transition(*applied)

    @classmethod
    def from_json(cls, snapshot: str | bytes) -> Run:
        """Reads a snapshot back, or raises :class:`turnlatch.LoadError`."""
        return cls(_core.Run.restore(snapshot))

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

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Run) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # pyright: ignore

    def snapshot(self) -> dict[str, Any]:
        """The run as data."""
        return cast("dict[str, Any]", json.loads(self._core.snapshot()))

    def apply(self, event: types.RunEvent, now: Time) -> Transition:
        """Applies one event. A reply or cancel that is refused changes nothing, and its receipt has a ``code``. Raises
        :class:`turnlatch.EventRejectedError` for a malformed event and leaves the run as it was."""
        at = to_millis(now)
        try:
            return Transition(*self._core.apply(at, event))
        except EventRejectedError as rejected:
            self._observe(rejected, event, at)
            raise

    def apply_json(self, event: str | bytes, now: Time) -> Transition:
        """Applies one event given as JSON text."""
        at = to_millis(now)
        try:
            return Transition(*self._core.apply_json(at, event))
        except EventRejectedError as rejected:
            self._observe(rejected, _read_or_none(event), at)
            raise

    def _observe(self, rejected: EventRejectedError, event: object, now: int) -> None:
        name = cast("Mapping[str, Any]", event).get("type") if isinstance(event, Mapping) else None
        # A name with half of a surrogate pair is no event's, with a replacement neither.
        text = name.encode(errors="replace").decode() if isinstance(name, str) else ""
        observation = self._core.observe_rejected(text, rejected.code, now)
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
        return self._core.plan.run_id

    @property
    def plan(self) -> Plan:
        """The settings it was admitted with."""
        return self._core.plan

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
        return cast("types.StatusView", self._core.status_view(False))

    def status_view_json(self) -> str:
        """The same as JSON text, exact to the last digit: what to send to a client."""
        return cast("str", self._core.status_view(True))

    def pending_view(self) -> types.PendingView:
        """The pending question as a client sees it, or ``None`` in its place."""
        return cast("types.PendingView", self._core.pending_view(False))

    def pending_view_json(self) -> str:
        """The same as JSON text: what to send to a client."""
        return cast("str", self._core.pending_view(True))

    def history(self) -> list[types.InteractionRecord]:
        """Every question that came to its end, in order."""
        return cast("list[types.InteractionRecord]", self._core.history(False))

    def history_json(self) -> str:
        """The same as JSON text: what to send to a client."""
        return cast("str", self._core.history(True))

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
        return cast("types.Explanation", self._core.explain(False))

    def explain_json(self) -> str:
        """The same as JSON text: what to send to a client."""
        return cast("str", self._core.explain(True))

    def why_not(self, target: types.Status) -> types.WhyNot:
        """What keeps the run from a status."""
        return cast("types.WhyNot", self._core.why_not(target))

    def __repr__(self) -> str:
        return f"<turnlatch.Run {self.run_id} {self.status} revision {self.revision}>"


class Replayer:
    """Makes a run again from the lines of its journal, one by one, and says what each of them did.

    The chain is not checked: lines that may have been changed are read with :meth:`Journal.from_lines` first."""

    __slots__ = ("_core",)

    def __init__(self, plan: Plan) -> None:
        self._core = _core.Replayer(plan)

    @property
    def run(self) -> Run | None:
        """A copy of the run after the last line; ``None`` before the first."""
        run = self._core.run
        return None if run is None else Run(run)

    def next(self, line: str | bytes) -> types.TimelineEntry:
        """Replays the next line, or raises :class:`turnlatch.LoadError` and leaves the run as it was."""
        return cast("types.TimelineEntry", self._core.next(line, False))

    def next_json(self, line: str | bytes) -> str:
        """The same as JSON text: what to send to a client."""
        return cast("str", self._core.next(line, True))


def replay(plan: Plan, journal: Journal) -> tuple[Run, list[list[types.Effect]]]:
    """Makes a run again from its plan and journal, and gives every effect it emitted on the way."""
    run, effects = journal.replay(plan)
    return Run(run), effects


def export_run(plan: Plan, journal: Journal) -> str:
    """A journal together with its plan as JSON text: it can be replayed by itself."""
    return journal.export_run(plan)


def import_run(text: str | bytes) -> tuple[Plan, Journal]:
    """Reads a record back, or raises :class:`turnlatch.LoadError`."""
    return Journal.import_run(text)


def evaluate_turn(plan: Plan, report: types.TurnReport) -> types.Evaluation:
    """Judges one turn by itself: the gate alone, without a run."""
    return cast("types.Evaluation", _core.evaluate_turn(plan, report))


def append_instructions(skill: str, mode: types.ExecutionMode, plan: Plan | None = None) -> str:
    """The skill's text with the instructions for this mode at its end, and the plan's output schema and artifacts."""
    return _core.append_instructions(skill, mode, plan)


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


def _read_or_none(text: object) -> Any:
    """What a text says, if it says anything."""
    try:
        return json.loads(cast("str", text))
    except (TypeError, ValueError, RecursionError):
        return None


def _plan_from_dict(data: dict[str, Any]) -> Plan:
    return Plan.from_dict(data)


def _entry_from_dict(data: dict[str, Any]) -> Entry:
    return Entry.from_dict(data)


def _journal_from_json(text: str) -> Journal:
    return Journal.from_json(text)


# How `pickle` and `copy` make them again.
copyreg.pickle(Plan, lambda plan: (_plan_from_dict, (plan.to_dict(),)))
copyreg.pickle(Entry, lambda entry: (_entry_from_dict, (entry.to_dict(),)))
copyreg.pickle(Journal, lambda journal: (_journal_from_json, (journal.to_json(),)))
