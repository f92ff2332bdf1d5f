//! The core for Python. Each method converts its arguments, calls the core and converts the result; `python/turnlatch`
//! adds the types.

mod convert;
mod errors;
mod stream;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyString;
use serde_json::Value;
use turnlatch::admission::SchemaTexts;
use turnlatch::hosting::{RecoveryFacts, RequestKind};
use turnlatch::turn::InstructionTemplate;
use turnlatch::types::{JournalEntry, Observation};
use turnlatch::{
    Code, Effect, Event, EventRejected, HostSettings, Limits, LoadError, Mode, RunRequest, Skill, Status, Timestamp,
    Transition,
};

use convert::{EventValue, NotJson, Now, Text, document_text, to_python, to_python_or_json, value_of};
use errors::{inadmissible, malformed, not_loaded, refused, rejected, unreadable};

/// An admitted run's settings.
#[pyclass(frozen, eq, module = "turnlatch")]
#[derive(PartialEq)]
struct Plan(Arc<turnlatch::Plan>);

#[pymethods]
impl Plan {
    /// Reads a plan back from what `to_dict` gave, or from that as JSON text.
    #[staticmethod]
    fn from_dict(data: &Bound<'_, PyAny>) -> PyResult<Plan> {
        load(data, Code::SnapshotInvalid, turnlatch::Plan::from_json).map(|plan| Plan(Arc::new(plan)))
    }

    /// The run's id.
    #[getter]
    fn run_id(&self) -> &str {
        &self.0.run_id
    }

    /// What admission warned of.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, &self.0.warnings)
    }

    /// Every setting, as a snapshot holds it.
    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, &*self.0)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.0.run_id).hash()
    }

    fn __repr__(&self) -> String {
        format!("<turnlatch.Plan {} {} {}>", self.0.run_id, self.0.engine, self.0.execution_mode.as_str())
    }
}

/// One event that changed a run, for its journal.
#[pyclass(frozen, eq, module = "turnlatch")]
#[derive(PartialEq)]
struct Entry(JournalEntry);

#[pymethods]
impl Entry {
    /// Reads an entry back from what `to_dict` gave, or from that as JSON text.
    #[staticmethod]
    fn from_dict(data: &Bound<'_, PyAny>) -> PyResult<Entry> {
        load(data, Code::JournalInvalid, JournalEntry::from_json).map(Entry)
    }

    /// The run's revision after it.
    #[getter]
    fn revision(&self) -> u64 {
        self.0.revision
    }

    /// The time the host gave.
    #[getter]
    fn at(&self) -> u64 {
        self.0.at.as_millis()
    }

    /// The entry without a turn's text: its digest and the recorded decision instead.
    fn compact(&self) -> Entry {
        Entry(self.0.clone().compact())
    }

    /// The entry as data.
    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, &self.0)
    }

    /// The entry as JSON text, chained to the text before it.
    #[pyo3(signature = (run_id, previous=None))]
    fn encode_chained(&self, py: Python<'_>, run_id: Text, previous: Option<Text>) -> PyResult<String> {
        let previous = previous.as_ref().map(|line| line.0.as_str());
        self.0.encode_chained(&run_id.0, previous).map_err(|error| not_loaded(py, &error))
    }

    fn __hash__(&self) -> u64 {
        self.0.revision
    }

    fn __repr__(&self) -> String {
        format!("<turnlatch.Entry revision {} at {}: {}>", self.0.revision, self.0.at.as_millis(), self.0.event.name())
    }
}

/// Ignores poisoning: a panic leaves nothing half changed, because the core computes a step before it commits it.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a document of the core's with the GIL released.
fn load<T: Send>(
    document: &Bound<'_, PyAny>,
    code: Code,
    read: impl FnOnce(&str) -> Result<T, LoadError> + Send,
) -> PyResult<T> {
    let py = document.py();
    let text = document_text(document).map_err(|error| unreadable(py, code, error))?;
    py.detach(|| read(&text)).map_err(|error| not_loaded(py, &error))
}

/// The metrics of a step, converted to a dict only on request: most are never read.
#[pyclass(frozen, name = "Observation", module = "turnlatch._core")]
struct ObservationHandle(Observation);

#[pymethods]
impl ObservationHandle {
    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, &self.0)
    }
}

/// The effects, the receipt, the journal entry and the observation.
type TransitionParts = (Py<PyAny>, Py<PyAny>, Option<Entry>, Option<ObservationHandle>);

fn transition_parts(py: Python<'_>, applied: Result<Transition, EventRejected>) -> PyResult<TransitionParts> {
    let transition = applied.map_err(|error| rejected(py, &error))?;
    let (effects, receipt) = (to_python(py, &transition.effects)?, to_python(py, &transition.receipt)?);
    Ok((effects, receipt, transition.entry.map(Entry), transition.observation.map(ObservationHandle)))
}

/// One execution of a skill for one request. Its lock is never held while Python runs.
#[pyclass(frozen, module = "turnlatch._core")]
struct Run(Mutex<turnlatch::Run>);

impl Run {
    /// For reads that may take long: releases the GIL.
    fn read<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&turnlatch::Run) -> T + Send) -> T {
        py.detach(|| read(&lock(&self.0)))
    }

    /// For reads that take less time than releasing the GIL: releases it only to wait for the lock.
    fn lock_attached(&self, py: Python<'_>) -> MutexGuard<'_, turnlatch::Run> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time comes before the event, because a time that is malformed is reported first.
#[pymethods]
impl Run {
    #[staticmethod]
    fn create(py: Python<'_>, plan: &Plan, now: Now) -> PyResult<(Run, TransitionParts)> {
        let (run, applied) = turnlatch::Run::create(plan.0.clone(), now.0);
        Ok((Run(Mutex::new(run)), transition_parts(py, Ok(applied))?))
    }

    #[staticmethod]
    fn restore(snapshot: &Bound<'_, PyAny>) -> PyResult<Run> {
        load(snapshot, Code::SnapshotInvalid, turnlatch::Run::restore).map(|run| Run(Mutex::new(run)))
    }

    fn apply(&self, py: Python<'_>, now: Now, event: EventValue) -> PyResult<TransitionParts> {
        let applied = py.detach(|| Event::from_value(event.0).and_then(|event| lock(&self.0).apply(event, now.0)));
        transition_parts(py, applied)
    }

    fn apply_json(&self, py: Python<'_>, now: Now, event: &Bound<'_, PyAny>) -> PyResult<TransitionParts> {
        let event = document_text(event).map_err(|error| malformed(py, error))?;
        let applied = py.detach(|| Event::from_json(&event).and_then(|event| lock(&self.0).apply(event, now.0)));
        transition_parts(py, applied)
    }

    /// An invalid time, which may be why the event was rejected, is replaced by that of the run's last change.
    fn observe_rejected(&self, py: Python<'_>, event: Text, code: Text, now: &Bound<'_, PyAny>) -> ObservationHandle {
        let now = now.extract().map_or_else(|_| Timestamp::default(), |Now(now)| now);
        ObservationHandle(self.read(py, |run| run.observe_rejected(&event.0, &code.0, now)))
    }

    fn copy(&self, py: Python<'_>) -> Run {
        Run(Mutex::new(self.read(py, Clone::clone)))
    }

    fn snapshot(&self, py: Python<'_>) -> String {
        self.read(py, turnlatch::Run::snapshot)
    }

    #[getter]
    fn status(&self, py: Python<'_>) -> &'static str {
        self.lock_attached(py).status().as_str()
    }

    #[getter]
    fn ended(&self, py: Python<'_>) -> bool {
        self.lock_attached(py).status().is_end()
    }

    #[getter]
    fn revision(&self, py: Python<'_>) -> u64 {
        self.lock_attached(py).revision()
    }

    #[getter]
    fn attempt_number(&self, py: Python<'_>) -> u32 {
        self.lock_attached(py).attempt_number()
    }

    #[getter]
    fn session_handle(&self, py: Python<'_>) -> Option<String> {
        self.lock_attached(py).session_handle().map(str::to_owned)
    }

    #[getter]
    fn plan(&self, py: Python<'_>) -> Plan {
        Plan(self.lock_attached(py).plan().clone())
    }

    fn status_view(&self, py: Python<'_>, as_json: bool) -> PyResult<Py<PyAny>> {
        to_python_or_json(py, &self.read(py, turnlatch::Run::status_view), as_json)
    }

    fn pending_view(&self, py: Python<'_>, as_json: bool) -> PyResult<Py<PyAny>> {
        to_python_or_json(py, &self.read(py, turnlatch::Run::pending_view), as_json)
    }

    fn history(&self, py: Python<'_>, as_json: bool) -> PyResult<Py<PyAny>> {
        to_python_or_json(py, &self.read(py, |run| run.history().to_vec()), as_json)
    }

    fn explain(&self, py: Python<'_>, as_json: bool) -> PyResult<Py<PyAny>> {
        to_python_or_json(py, &self.read(py, turnlatch::Run::explain), as_json)
    }

    fn outstanding(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, &self.read(py, turnlatch::Run::outstanding))
    }

    fn due(&self, py: Python<'_>, effect: EventValue, failed: Vec<EventValue>) -> PyResult<Py<PyAny>> {
        let (effect, failed) = (effect_of(py, effect)?, failed.into_iter().map(|failed| effect_of(py, failed)));
        let failed: Vec<_> = failed.collect::<PyResult<_>>()?;
        to_python(py, &self.read(py, |run| run.due(&effect, &failed)))
    }

    fn given_up(&self, py: Python<'_>, effect: EventValue, begun: bool) -> PyResult<Py<PyAny>> {
        let effect = effect_of(py, effect)?;
        to_python(py, &self.read(py, |run| run.given_up(&effect, begun)))
    }

    fn after_restart(&self, py: Python<'_>, process_alive: bool, begun: bool, slot_lost: bool) -> PyResult<Py<PyAny>> {
        let found = RecoveryFacts { process_alive, begun, slot_lost };
        to_python(py, &self.read(py, |run| run.after_restart(found)))
    }

    fn why_not(&self, py: Python<'_>, target: Text) -> PyResult<Py<PyAny>> {
        let known = Status::ALL.into_iter().find(|status| status.as_str() == target.0);
        let target = known.ok_or_else(|| PyValueError::new_err("expected the name of a status"))?;
        to_python(py, &self.read(py, |run| run.why_not(target)))
    }

    fn allowed(&self, py: Python<'_>, now: Now) -> PyResult<Py<PyAny>> {
        to_python(py, &self.read(py, |run| run.allowed(now.0)))
    }
}

fn effect_of(py: Python<'_>, effect: EventValue) -> PyResult<Effect> {
    Effect::from_value(effect.0).map_err(|error| rejected(py, &error))
}

/// Makes a run again from the lines of its journal, one by one. Its lock is never held while Python runs.
#[pyclass(frozen, module = "turnlatch._core")]
struct Replayer(Mutex<turnlatch::inspect::Replayer>);

#[pymethods]
impl Replayer {
    #[new]
    fn new(plan: &Plan) -> Replayer {
        Replayer(Mutex::new(turnlatch::inspect::Replayer::new(plan.0.clone())))
    }

    #[getter]
    fn run(&self, py: Python<'_>) -> Option<Run> {
        py.detach(|| lock(&self.0).run().cloned()).map(|run| Run(Mutex::new(run)))
    }

    fn next(&self, line: &Bound<'_, PyAny>, as_json: bool) -> PyResult<Py<PyAny>> {
        to_python_or_json(line.py(), &load(line, Code::JournalInvalid, |line| lock(&self.0).next(line))?, as_json)
    }
}

/// The hash-chained journal of a run.
#[pyclass(frozen, module = "turnlatch")]
struct Journal(Mutex<turnlatch::Journal>);

#[pymethods]
impl Journal {
    #[new]
    fn new(plan: &Plan) -> Journal {
        Journal(Mutex::new(turnlatch::Journal::new(&plan.0)))
    }

    /// Reads a journal back from its JSON text.
    #[staticmethod]
    fn from_json(text: &Bound<'_, PyAny>) -> PyResult<Journal> {
        load(text, Code::JournalInvalid, turnlatch::Journal::from_json).map(|journal| Journal(Mutex::new(journal)))
    }

    /// Reads a journal back from the texts of its entries.
    #[staticmethod]
    fn from_lines(py: Python<'_>, run_id: Text, lines: Vec<Bound<'_, PyAny>>) -> PyResult<Journal> {
        let lines = lines.iter().map(|line| document_text(line)).collect::<Result<Vec<_>, _>>();
        let lines = lines.map_err(|error| unreadable(py, Code::JournalInvalid, error))?;
        let journal = turnlatch::Journal::from_lines(&run_id.0, lines.iter().map(AsRef::as_ref));
        journal.map(|journal| Journal(Mutex::new(journal))).map_err(|error| not_loaded(py, &error))
    }

    /// Appends what `Run.apply` gave.
    fn push(&self, entry: &Entry) {
        lock(&self.0).push(entry.0.clone());
    }

    /// The journal as JSON text.
    fn to_json(&self) -> String {
        lock(&self.0).to_json()
    }

    /// The journal together with its plan as JSON text.
    fn export_run(&self, plan: &Plan) -> String {
        lock(&self.0).export_run(&plan.0)
    }

    /// Reads a plan and its journal back from the text of both.
    #[staticmethod]
    fn import_run(text: &Bound<'_, PyAny>) -> PyResult<(Plan, Journal)> {
        let (plan, journal) = load(text, Code::JournalInvalid, turnlatch::Journal::import_run)?;
        Ok((Plan(Arc::new(plan)), Journal(Mutex::new(journal))))
    }

    /// The texts of its entries.
    fn lines(&self) -> Vec<String> {
        lock(&self.0).lines()
    }

    fn replay(&self, py: Python<'_>, plan: &Plan) -> PyResult<(Run, Py<PyAny>)> {
        let replayed = py.detach(|| turnlatch::persist::replay(plan.0.clone(), &lock(&self.0)));
        let replayed = replayed.map_err(|error| not_loaded(py, &error))?;
        Ok((Run(Mutex::new(replayed.run)), to_python(py, &replayed.effects)?))
    }

    fn __len__(&self) -> usize {
        lock(&self.0).len()
    }

    fn __eq__(&self, other: &Journal) -> bool {
        // Copied first: a journal is compared with itself under one lock.
        let other = lock(&other.0).clone();
        *lock(&self.0) == other
    }

    fn __repr__(&self) -> String {
        let journal = lock(&self.0);
        format!("<turnlatch.Journal {} with {} entries>", journal.run_id(), journal.len())
    }
}

/// What a skill declares: its manifest, and the schemas of its output, of a request's input and of its parameter.
type Declared<'p> = (Bound<'p, PyAny>, [Option<Bound<'p, PyAny>>; 3]);
/// The engines of a host, and its limits.
type Host<'p> = (Bound<'p, PyAny>, Option<Bound<'p, PyAny>>);

#[pyfunction]
fn admit(py: Python<'_>, skill: Declared<'_>, request: &Bound<'_, PyAny>, host: Host<'_>) -> PyResult<Plan> {
    let (skill, host) = skill_and_host(py, skill, host)?;
    let request = request_text(request)?;
    let plan = py.detach(|| turnlatch::admit(&skill, &RunRequest::from_json(&request), &host));
    plan.map(Plan).map_err(|refusal| refused(py, &refusal))
}

#[pyfunction]
fn describe_skill(py: Python<'_>, skill: Declared<'_>, host: Host<'_>) -> PyResult<Py<PyAny>> {
    let (skill, host) = skill_and_host(py, skill, host)?;
    to_python(py, &py.detach(|| turnlatch::admission::describe_skill(&skill, &host)))
}

fn skill_and_host(py: Python<'_>, skill: Declared<'_>, host: Host<'_>) -> PyResult<(Skill, HostSettings)> {
    let text = |root: &str, document: &Bound<'_, PyAny>| {
        let text = document_text(document).map(Cow::into_owned);
        text.map_err(|error| inadmissible(py, Code::SkillManifestInvalid, root, error))
    };
    let (runner, [output, input, parameter]) = skill;
    let schema_texts = SchemaTexts {
        output_schema: output.map(|schema| text("output_schema", &schema)).transpose()?,
        input_schema: input.map(|schema| text("input_schema", &schema)).transpose()?,
        parameter_schema: parameter.map(|schema| text("parameter_schema", &schema)).transpose()?,
    };
    let (engines, limits) = host;
    let engines = value_of(&engines)
        .and_then(|names| serde_json::from_value(names).map_err(|_| NotJson::new("expected a list of strings")));
    let engines = engines.map_err(|error| inadmissible(py, Code::OptionInvalid, "engines", error))?;
    let limits = limits.map(|given| value_of(&given).and_then(|given| Limits::from_value(given).map_err(NotJson::new)));
    let limits = limits.transpose().map_err(|error| inadmissible(py, Code::OptionInvalid, "limits", error))?;
    let limits = limits.unwrap_or_default();
    let skill = Skill::from_json(&text("runner", &runner)?, &limits).schema_texts(schema_texts);
    Ok((skill, HostSettings { engines, limits }))
}

fn request_text<'t>(request: &'t Bound<'_, PyAny>) -> PyResult<Cow<'t, str>> {
    document_text(request).map_err(|error| inadmissible(request.py(), Code::RequestMalformed, "request", error))
}

#[pyfunction]
fn read_job(py: Python<'_>, body: &Bound<'_, PyAny>, run_id: Text) -> PyResult<(String, String, String)> {
    let job = turnlatch::hosting::read_job(&request_text(body)?, &run_id.0).map_err(|refusal| refused(py, &refusal))?;
    Ok((job.skill, job.run_id, job.request))
}

#[pyfunction]
fn request_event(py: Python<'_>, kind: Text, body: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let known = RequestKind::ALL.into_iter().find(|known| known.as_str() == kind.0);
    let kind = known.ok_or_else(|| PyValueError::new_err("expected `reply` or `cancel`"))?;
    let body = document_text(body).map_err(|error| malformed(py, error))?;
    to_python(py, &turnlatch::hosting::request_event(kind, &body).map_err(|error| rejected(py, &error))?)
}

#[pyfunction]
fn evaluate_turn(py: Python<'_>, plan: &Plan, report: EventValue) -> PyResult<Py<PyAny>> {
    let mut report = report.0;
    if let Value::Object(members) = &mut report {
        members.insert("type".to_owned(), Value::from("turn_finished"));
        members.entry("attempt_number").or_insert_with(|| Value::from(1));
    }
    let Event::TurnFinished(report) = Event::from_value(report).map_err(|error| rejected(py, &error))? else {
        return Err(malformed(py, NotJson::new("a report is a dict")));
    };
    to_python(py, &py.detach(|| turnlatch::inspect::evaluate_turn(&plan.0, &report)).explain())
}

#[pyfunction]
fn append_instructions(py: Python<'_>, skill: Text, mode: Text, plan: Option<&Bound<'_, Plan>>) -> PyResult<String> {
    let mode: Mode = serde_json::from_value(Value::from(mode.0))
        .map_err(|_| PyValueError::new_err("expected `auto` or `interactive`"))?;
    let (plan, template) = (plan.map(|plan| &*plan.get().0), InstructionTemplate::default());
    Ok(py.detach(|| turnlatch::turn::append_instructions(&skill.0, mode, plan, &template)))
}

#[pyfunction]
fn run_of_slot(slot_id: Text) -> Option<String> {
    turnlatch::hosting::run_of_slot(&slot_id.0).map(str::to_owned)
}

#[pyfunction]
fn unreadable_report(py: Python<'_>, attempt_number: u32, slot_id: Text) -> PyResult<Py<PyAny>> {
    to_python(py, &turnlatch::hosting::unreadable_report(attempt_number, &slot_id.0))
}

#[pyfunction]
fn codes(py: Python<'_>) -> PyResult<Py<PyAny>> {
    to_python(py, &Code::ALL.iter().map(|code| code.info()).collect::<Vec<_>>())
}

#[pyfunction]
fn display_text(text: Text) -> String {
    turnlatch::text::display_text(&text.0).into_owned()
}

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::{
        Entry, Journal, ObservationHandle, Plan, Replayer, Run, admit, append_instructions, codes, describe_skill,
        display_text, evaluate_turn, read_job, request_event, run_of_slot, stream::StreamDecoder,
        stream::decode_stream, unreadable_report,
    };
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
