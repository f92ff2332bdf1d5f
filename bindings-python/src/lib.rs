//! The core for Python. Each method converts its arguments, calls the core and converts the result; `python/turnlatch`
//! adds the types.

mod convert;
mod errors;
mod stream;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyString;
use serde_json::Value;
use turnlatch::admission::SchemaTexts;
use turnlatch::hosting::{RecoveryFacts, RequestKind};
use turnlatch::inspect::Replayer;
use turnlatch::turn::InstructionTemplate;
use turnlatch::types::{JournalEntry, Observation};
use turnlatch::{
    Code, Effect, Event, EventRejected, HostSettings, Limits, Mode, RunRequest, Skill, Status, Timestamp, Transition,
};

use convert::{argument_value, event_value, text_of, to_json, to_python};
use errors::{malformed, not_loaded, refused, rejected};

/// An admitted run's settings.
#[pyclass(frozen, module = "turnlatch._core")]
struct Plan(Arc<turnlatch::Plan>);

#[pymethods]
impl Plan {
    #[getter]
    fn run_id(&self) -> &str {
        &self.0.run_id
    }

    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, &*self.0)
    }
}

/// One event that changed a run, for its journal.
#[pyclass(frozen, module = "turnlatch")]
struct Entry(JournalEntry);

#[pymethods]
impl Entry {
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
    fn encode_chained(&self, py: Python<'_>, run_id: &str, previous: Option<&str>) -> PyResult<String> {
        self.0.encode_chained(run_id, previous).map_err(|error| not_loaded(py, &error))
    }
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

fn transition_parts(py: Python<'_>, transition: Transition) -> PyResult<TransitionParts> {
    let (effects, receipt) = (to_python(py, &transition.effects)?, to_python(py, &transition.receipt)?);
    Ok((effects, receipt, transition.entry.map(Entry), transition.observation.map(ObservationHandle)))
}

/// One execution of a skill for one request. Its lock is never held while Python runs.
#[pyclass(frozen, module = "turnlatch._core")]
struct Run(Mutex<turnlatch::Run>);

impl Run {
    /// Ignores poisoning: a panic cannot leave a run half changed, because the core computes a step before it commits it.
    fn lock(&self) -> MutexGuard<'_, turnlatch::Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For reads that may take long: releases the GIL.
    fn read<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&turnlatch::Run) -> T + Send) -> T {
        py.detach(|| read(&self.lock()))
    }

    /// For reads that take less time than releasing the GIL: releases it only to wait for the lock.
    fn lock_attached(&self, py: Python<'_>) -> MutexGuard<'_, turnlatch::Run> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Decodes and applies an event with the GIL released.
    fn apply_decoded(
        &self,
        py: Python<'_>,
        now: Timestamp,
        decode: impl FnOnce() -> Result<Event, EventRejected> + Send,
    ) -> PyResult<TransitionParts> {
        let applied = py.detach(|| decode().and_then(|event| self.lock().apply(event, now)));
        transition_parts(py, applied.map_err(|error| rejected(py, &error))?)
    }
}

#[pymethods]
impl Run {
    #[staticmethod]
    fn create(py: Python<'_>, plan: &Plan, now: &Bound<'_, PyAny>) -> PyResult<(Run, TransitionParts)> {
        let (run, applied) = turnlatch::Run::create(plan.0.clone(), time(now)?);
        Ok((Run(Mutex::new(run)), transition_parts(py, applied)?))
    }

    #[staticmethod]
    fn restore(py: Python<'_>, snapshot: &Bound<'_, PyString>) -> PyResult<Run> {
        let snapshot = text_of(snapshot)?;
        let run = py.detach(|| turnlatch::Run::restore(&snapshot)).map_err(|error| not_loaded(py, &error))?;
        Ok(Run(Mutex::new(run)))
    }

    fn apply(&self, py: Python<'_>, event: &Bound<'_, PyAny>, now: &Bound<'_, PyAny>) -> PyResult<TransitionParts> {
        let (now, event) = (time(now)?, event_value(event)?);
        self.apply_decoded(py, now, || Event::from_value(event))
    }

    fn apply_json(
        &self,
        py: Python<'_>,
        event: &Bound<'_, PyString>,
        now: &Bound<'_, PyAny>,
    ) -> PyResult<TransitionParts> {
        let (now, event) = (time(now)?, text_of(event)?);
        self.apply_decoded(py, now, || Event::from_json(&event))
    }

    /// An invalid time, which may be why the event was rejected, is replaced by that of the run's last change.
    fn observe_rejected(&self, py: Python<'_>, event: &str, code: &str, now: &Bound<'_, PyAny>) -> ObservationHandle {
        let now = time(now).unwrap_or_default();
        ObservationHandle(self.read(py, |run| run.observe_rejected(event, code, now)))
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
    fn run_id(&self, py: Python<'_>) -> String {
        self.lock_attached(py).plan().run_id.clone()
    }

    #[getter]
    fn plan(&self, py: Python<'_>) -> Plan {
        Plan(self.lock_attached(py).plan().clone())
    }

    fn status_view(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |run| to_json(&run.status_view()))
    }

    fn pending_view(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |run| to_json(&run.pending_view()))
    }

    fn history(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |run| to_json(&run.history()))
    }

    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |run| to_json(&run.explain()))
    }

    #[staticmethod]
    fn first(py: Python<'_>, plan: &Plan, line: &str) -> PyResult<(Run, String)> {
        let mut replayer = Replayer::new(plan.0.clone());
        let entry = replayer.next(line).map_err(|error| not_loaded(py, &error))?;
        let run = replayer.run().cloned().ok_or_else(|| malformed(py, "no line was replayed"))?;
        Ok((Run(Mutex::new(run)), to_json(&entry)?))
    }

    fn follow(&self, py: Python<'_>, line: &str) -> PyResult<String> {
        let entry = py.detach(|| {
            let mut run = self.lock();
            let mut replayer = Replayer::from(run.clone());
            let entry = replayer.next(line)?;
            if let Some(next) = replayer.run() {
                *run = next.clone();
            }
            Ok(entry)
        });
        to_json(&entry.map_err(|error| not_loaded(py, &error))?)
    }

    fn outstanding(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_python(py, &self.read(py, turnlatch::Run::outstanding))
    }

    fn due(&self, py: Python<'_>, effect: &Bound<'_, PyAny>, failed: Vec<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let (effect, failed) = (effect_of(effect)?, failed.iter().map(effect_of).collect::<PyResult<Vec<_>>>()?);
        to_python(py, &self.read(py, |run| run.due(&effect, &failed)))
    }

    fn given_up(&self, py: Python<'_>, effect: &Bound<'_, PyAny>, begun: bool) -> PyResult<Py<PyAny>> {
        let effect = effect_of(effect)?;
        to_python(py, &self.read(py, |run| run.given_up(&effect, begun)))
    }

    fn after_restart(&self, py: Python<'_>, process_alive: bool, begun: bool, slot_lost: bool) -> PyResult<Py<PyAny>> {
        let found = RecoveryFacts { process_alive, begun, slot_lost };
        to_python(py, &self.read(py, |run| run.after_restart(found)))
    }

    fn why_not(&self, py: Python<'_>, target: &str) -> PyResult<Py<PyAny>> {
        let known = Status::ALL.into_iter().find(|status| status.as_str() == target);
        let target = known.ok_or_else(|| PyValueError::new_err("expected the name of a status"))?;
        to_python(py, &self.read(py, |run| run.why_not(target)))
    }

    fn allowed(&self, py: Python<'_>, now: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let now = time(now)?;
        to_python(py, &self.read(py, |run| run.allowed(now)))
    }
}

fn effect_of(effect: &Bound<'_, PyAny>) -> PyResult<Effect> {
    Effect::from_value(event_value(effect)?).map_err(|error| rejected(effect.py(), &error))
}

/// The hash-chained journal of a run.
#[pyclass(frozen, module = "turnlatch._core")]
struct Journal(Mutex<turnlatch::Journal>);

#[pymethods]
impl Journal {
    #[new]
    fn new(plan: &Plan) -> Journal {
        Journal(Mutex::new(turnlatch::Journal::new(&plan.0)))
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Journal> {
        let journal = py.detach(|| turnlatch::Journal::from_json(text)).map_err(|error| not_loaded(py, &error))?;
        Ok(Journal(Mutex::new(journal)))
    }

    #[staticmethod]
    fn from_lines(py: Python<'_>, run_id: &str, lines: Vec<String>) -> PyResult<Journal> {
        let journal = turnlatch::Journal::from_lines(run_id, lines.iter().map(String::as_str));
        Ok(Journal(Mutex::new(journal.map_err(|error| not_loaded(py, &error))?)))
    }

    fn push(&self, entry: &Entry) {
        self.lock().push(entry.0.clone());
    }

    fn to_json(&self) -> String {
        self.lock().to_json()
    }

    fn to_record(&self, plan: &Plan) -> String {
        self.lock().to_record(&plan.0)
    }

    #[staticmethod]
    fn from_record(py: Python<'_>, text: &str) -> PyResult<(Plan, Journal)> {
        let read = py.detach(|| turnlatch::Journal::from_record(text));
        let (plan, journal) = read.map_err(|error| not_loaded(py, &error))?;
        Ok((Plan(Arc::new(plan)), Journal(Mutex::new(journal))))
    }

    fn lines(&self) -> Vec<String> {
        self.lock().lines()
    }

    fn __len__(&self) -> usize {
        self.lock().len()
    }

    fn replay(&self, py: Python<'_>, plan: &Plan) -> PyResult<(Run, Py<PyAny>)> {
        let replayed = py.detach(|| turnlatch::persist::replay(plan.0.clone(), &self.lock()));
        let replayed = replayed.map_err(|error| not_loaded(py, &error))?;
        Ok((Run(Mutex::new(replayed.run)), to_python(py, &replayed.effects)?))
    }
}

impl Journal {
    fn lock(&self) -> MutexGuard<'_, turnlatch::Journal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pyfunction]
#[pyo3(signature = (runner, request, engines, output_schema=None, input_schema=None, parameter_schema=None, limits=None))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
fn admit(
    py: Python<'_>,
    runner: &str,
    request: &str,
    engines: Vec<String>,
    output_schema: Option<String>,
    input_schema: Option<String>,
    parameter_schema: Option<String>,
    limits: Option<&Bound<'_, PyAny>>,
) -> PyResult<Plan> {
    let limits = limits_of(limits)?;
    let texts = SchemaTexts { output_schema, input_schema, parameter_schema };
    let host = HostSettings { engines, limits };
    let plan = py.detach(|| {
        let skill = Skill::from_json(runner, &host.limits).schema_texts(texts);
        turnlatch::admit(&skill, &RunRequest::from_json(request), &host)
    });
    plan.map(Plan).map_err(|refusal| refused(py, &refusal))
}

fn limits_of(limits: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    match limits {
        Some(limits) => {
            serde_json::from_value(argument_value(limits)?).map_err(|error| PyValueError::new_err(error.to_string()))
        }
        None => Ok(Limits::default()),
    }
}

#[pyfunction]
fn describe_skill(
    py: Python<'_>,
    runner: &str,
    engines: Vec<String>,
    schemas: (Option<String>, Option<String>, Option<String>),
    limits: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (output_schema, input_schema, parameter_schema) = schemas;
    let texts = SchemaTexts { output_schema, input_schema, parameter_schema };
    let host = HostSettings { engines, limits: limits_of(limits)? };
    let described = py.detach(|| {
        let skill = Skill::from_json(runner, &host.limits).schema_texts(texts);
        turnlatch::admission::describe_skill(&skill, &host)
    });
    to_python(py, &described)
}

#[pyfunction]
fn read_job(py: Python<'_>, body: &str, run_id: &str) -> PyResult<(String, String, String)> {
    let job = turnlatch::hosting::read_job(body, run_id).map_err(|refusal| refused(py, &refusal))?;
    Ok((job.skill, job.run_id, job.request))
}

#[pyfunction]
fn request_event(py: Python<'_>, kind: &str, body: &str) -> PyResult<Py<PyAny>> {
    let known = RequestKind::ALL.into_iter().find(|known| known.as_str() == kind);
    let kind = known.ok_or_else(|| PyValueError::new_err("expected `reply` or `cancel`"))?;
    to_python(py, &turnlatch::hosting::request_event(kind, body).map_err(|error| rejected(py, &error))?)
}

#[pyfunction]
fn evaluate_turn(py: Python<'_>, plan: &Plan, report: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let Value::Object(mut members) = event_value(report)? else { return Err(malformed(py, "a report is a dict")) };
    members.insert("type".to_owned(), Value::from("turn_finished"));
    members.entry("attempt_number").or_insert_with(|| Value::from(1));
    match Event::from_value(Value::Object(members)).map_err(|error| rejected(py, &error))? {
        Event::TurnFinished(report) => {
            let evaluation = py.detach(|| turnlatch::inspect::evaluate_turn(&plan.0, &report));
            to_python(py, &evaluation.explain())
        }
        _ => Err(malformed(py, "a report is a finished turn")),
    }
}

#[pyfunction]
#[pyo3(signature = (skill, mode, plan=None))]
fn append_instructions(py: Python<'_>, skill: &str, mode: &str, plan: Option<&Plan>) -> PyResult<String> {
    let mode: Mode = serde_json::from_value(Value::from(mode))
        .map_err(|_| PyValueError::new_err("expected `auto` or `interactive`"))?;
    let plan = plan.map(|plan| &*plan.0);
    Ok(py.detach(|| turnlatch::turn::append_instructions(skill, mode, plan, &InstructionTemplate::default())))
}

#[pyfunction]
fn run_of_slot(slot_id: &str) -> Option<&str> {
    turnlatch::hosting::run_of_slot(slot_id)
}

#[pyfunction]
fn unreadable_report(py: Python<'_>, attempt_number: u32, slot_id: &str) -> PyResult<Py<PyAny>> {
    to_python(py, &turnlatch::hosting::unreadable_report(attempt_number, slot_id))
}

#[pyfunction]
fn codes(py: Python<'_>) -> PyResult<Py<PyAny>> {
    to_python(py, &Code::ALL.iter().map(|code| code.info()).collect::<Vec<_>>())
}

#[pyfunction]
fn display_text(text: &str) -> String {
    turnlatch::text::display_text(text).into_owned()
}

fn time(now: &Bound<'_, PyAny>) -> PyResult<Timestamp> {
    Timestamp::from_json(&event_value(now)?).map_err(|error| rejected(now.py(), &error))
}

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Plan>()?;
    module.add_class::<Run>()?;
    module.add_class::<Journal>()?;
    module.add_class::<Entry>()?;
    module.add_class::<ObservationHandle>()?;
    module.add_class::<stream::StreamDecoder>()?;
    module.add_function(wrap_pyfunction!(admit, module)?)?;
    module.add_function(wrap_pyfunction!(describe_skill, module)?)?;
    module.add_function(wrap_pyfunction!(read_job, module)?)?;
    module.add_function(wrap_pyfunction!(request_event, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate_turn, module)?)?;
    module.add_function(wrap_pyfunction!(stream::decode_stream, module)?)?;
    module.add_function(wrap_pyfunction!(append_instructions, module)?)?;
    module.add_function(wrap_pyfunction!(codes, module)?)?;
    module.add_function(wrap_pyfunction!(display_text, module)?)?;
    module.add_function(wrap_pyfunction!(run_of_slot, module)?)?;
    module.add_function(wrap_pyfunction!(unreadable_report, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
