//! Runs by their handle.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;
use turnlatch::hosting::RecoveryFacts;
use turnlatch::inspect::Replayer;
use turnlatch::json::{Value, json_text};
use turnlatch::{Effect, Event, Receipt, Run, Status, Transition};
use wasm_bindgen::prelude::*;

use crate::convert::{read_json, read_list, text, time};
use crate::errors::{Failed, misuse, not_loaded, rejected};
use crate::table::{PLANS, RUNS};

/// What came of an event, without what may be long or is seldom read.
#[derive(Serialize)]
struct StepOut<'a> {
    effects: &'a [Effect],
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<&'a Receipt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

/// What came of an event as JSON texts: the step, its observation, and its journal entry. Most hosts only store an entry
/// and few read an observation, so they are not parsed with the step, nor escaped as strings inside it.
fn texts_of(transition: &Transition) -> Vec<JsValue> {
    let Transition { effects, receipt, entry, .. } = transition;
    #[cfg(feature = "observe")]
    let observation = transition.observation.as_ref().map(json_text);
    #[cfg(not(feature = "observe"))]
    let observation = None;
    let revision = entry.as_ref().map(|entry| entry.revision);
    let step = json_text(&StepOut { effects, receipt: receipt.as_ref(), revision });
    [Some(step), observation, entry.as_ref().map(json_text)].into_iter().map(JsValue::from).collect()
}

pub(crate) fn keep(run: Run) -> u32 {
    RUNS.with(|runs| runs.add(Rc::new(RefCell::new(run))))
}

fn find(run: u32) -> Result<Rc<RefCell<Run>>, Failed> {
    RUNS.with(|runs| runs.get(run))
}

/// One function for everything that is asked with nothing but a handle.
fn answer_of(run: u32, answer: fn(&Run) -> String) -> Result<String, Failed> {
    Ok(answer(&find(run)?.borrow()))
}

/// Makes a run of an admitted plan, and returns its handle before the texts that [`run_apply`] returns.
#[wasm_bindgen(unchecked_return_type = "[run: number, step: string, observation: string | undefined, entry: string]")]
pub fn run_create(plan: u32, now: f64) -> Result<Vec<JsValue>, Failed> {
    let (run, created) = Run::create(PLANS.with(|plans| plans.get(plan))?, time(now)?);
    let mut answer = texts_of(&created);
    answer.insert(0, keep(run).into());
    Ok(answer)
}

/// Reads a snapshot back.
#[wasm_bindgen]
pub fn run_restore(snapshot: &[u8]) -> Result<u32, Failed> {
    Run::restore(text(snapshot)?).map(keep).map_err(|error| not_loaded(&error))
}

/// Applies one event, given as JSON text; the one long text of a finished turn may stand beside it.
///
/// The run changes when the answer has been written: whatever breaks on the way, the table still holds it as it was.
#[wasm_bindgen(unchecked_return_type = "[step: string, observation?: string, entry?: string]")]
pub fn run_apply(run: u32, event: &[u8], turn_text: Option<Box<[u8]>>, now: f64) -> Result<Vec<JsValue>, Failed> {
    // An invalid time is reported before an invalid event (BAD-7).
    let (run, now) = (find(run)?, time(now)?);
    let turn_text = turn_text.as_deref().map(text).transpose()?;
    let event = Event::from_json(text(event)?).and_then(|event| match turn_text {
        Some(text) => event.with_text(text),
        None => Ok(event),
    });
    let mut next = run.borrow().clone();
    let transition = event.and_then(|event| next.apply(event, now)).map_err(|error| rejected(&error))?;
    let answer = texts_of(&transition);
    run.replace(next);
    Ok(answer)
}

/// What is worth measuring of an event that was rejected. An invalid time does not keep it from being observed.
#[cfg(feature = "observe")]
#[wasm_bindgen]
pub fn run_observe_rejected(run: u32, event: &str, code: &str, now: f64) -> Result<String, Failed> {
    Ok(json_text(&find(run)?.borrow().observe_rejected(event, code, time(now).unwrap_or_default())))
}

/// Makes a run again from its plan and the first line of its journal, and returns its handle and the timeline entry.
#[wasm_bindgen(unchecked_return_type = "[run: number, step: string]")]
pub fn run_first(plan: u32, line: &[u8]) -> Result<Vec<JsValue>, Failed> {
    let mut replayer = Replayer::new(PLANS.with(|plans| plans.get(plan))?);
    let entry = replayer.next(text(line)?).map_err(|error| not_loaded(&error))?;
    let run = replayer.run().cloned().ok_or_else(|| misuse("no line was replayed"))?;
    Ok(vec![keep(run).into(), JsValue::from_str(&json_text(&entry))])
}

/// Replays the next line of the journal; on a copy, so that whatever breaks on the way, the run is as it was.
#[wasm_bindgen]
pub fn run_follow(run: u32, line: &[u8]) -> Result<String, Failed> {
    let run = find(run)?;
    let mut replayer = Replayer::from(run.borrow().clone());
    let entry = replayer.next(text(line)?).map_err(|error| not_loaded(&error))?;
    if let Some(next) = replayer.run() {
        run.replace(next.clone());
    }
    Ok(json_text(&entry))
}

/// The plan that the run was made of.
#[wasm_bindgen]
pub fn run_plan(run: u32) -> Result<u32, Failed> {
    let plan = find(run)?.borrow().plan().clone();
    Ok(PLANS.with(|plans| plans.add(plan)))
}

/// A run of its own in the same state.
#[wasm_bindgen]
pub fn run_copy(run: u32) -> Result<u32, Failed> {
    let copy = find(run)?.borrow().clone();
    Ok(keep(copy))
}

/// Gives a run's memory back.
#[wasm_bindgen]
pub fn run_free(run: u32) {
    RUNS.with(|runs| runs.remove(run));
}

/// The handles of all runs.
#[wasm_bindgen]
#[must_use]
pub fn live_runs() -> Vec<u32> {
    RUNS.with(crate::table::Table::handles)
}

/// The run as canonical JSON text.
#[wasm_bindgen]
pub fn run_snapshot(run: u32) -> Result<String, Failed> {
    answer_of(run, Run::snapshot)
}

/// The run's id.
#[wasm_bindgen]
pub fn run_id(run: u32) -> Result<String, Failed> {
    answer_of(run, |run| run.plan().run_id.clone())
}

/// Where the run is.
#[wasm_bindgen]
pub fn run_status(run: u32) -> Result<String, Failed> {
    answer_of(run, |run| run.status().as_str().to_owned())
}

/// Whether nothing can happen to it any more.
#[wasm_bindgen]
pub fn run_ended(run: u32) -> Result<bool, Failed> {
    Ok(find(run)?.borrow().status().is_end())
}

/// How many events have changed it; far below 2^53.
#[wasm_bindgen]
#[expect(clippy::cast_precision_loss, reason = "it counts events one by one and never comes near 2^53")]
pub fn run_revision(run: u32) -> Result<f64, Failed> {
    Ok(find(run)?.borrow().revision() as f64)
}

/// The number of the last turn that started.
#[wasm_bindgen]
pub fn run_attempt_number(run: u32) -> Result<u32, Failed> {
    Ok(find(run)?.borrow().attempt_number())
}

/// The last good handle of the agent's session.
#[wasm_bindgen]
pub fn run_session_handle(run: u32) -> Result<Option<String>, Failed> {
    Ok(find(run)?.borrow().session_handle().map(str::to_owned))
}

/// The run as a client sees it.
#[wasm_bindgen]
pub fn run_status_view(run: u32) -> Result<String, Failed> {
    answer_of(run, |run| json_text(&run.status_view()))
}

/// The pending question as a client sees it.
#[wasm_bindgen]
pub fn run_pending_view(run: u32) -> Result<String, Failed> {
    answer_of(run, |run| json_text(&run.pending_view()))
}

/// Every question that came to its end.
#[wasm_bindgen]
pub fn run_history(run: u32) -> Result<String, Failed> {
    answer_of(run, |run| json_text(&run.history()))
}

/// What the host still owes.
#[wasm_bindgen]
pub fn run_outstanding(run: u32) -> Result<String, Failed> {
    answer_of(run, |run| json_text(&run.outstanding()))
}

/// Whether an effect is still to be performed; `failed` is the JSON text of a list of effects.
#[wasm_bindgen]
pub fn run_due(run: u32, effect: &[u8], failed: &[u8]) -> Result<String, Failed> {
    let effect = read_effect(read_json(effect)?)?;
    let mut others = Vec::new();
    for effect in read_list(failed)? {
        others.push(read_effect(effect)?);
    }
    Ok(json_text(&find(run)?.borrow().due(&effect, &others)))
}

/// What becomes of an effect that failed too often.
#[wasm_bindgen]
pub fn run_given_up(run: u32, effect: &[u8], begun: bool) -> Result<String, Failed> {
    let effect = read_effect(read_json(effect)?)?;
    Ok(json_text(&find(run)?.borrow().given_up(&effect, begun)))
}

/// How to go on after a restart.
#[wasm_bindgen]
pub fn run_after_restart(run: u32, process_alive: bool, begun: bool, slot_lost: bool) -> Result<String, Failed> {
    Ok(json_text(&find(run)?.borrow().after_restart(RecoveryFacts { process_alive, begun, slot_lost })))
}

fn read_effect(effect: Value) -> Result<Effect, Failed> {
    Effect::from_value(effect).map_err(|error| rejected(&error))
}

/// Why the run is where it is.
#[wasm_bindgen]
pub fn run_explain(run: u32) -> Result<String, Failed> {
    answer_of(run, |run| json_text(&run.explain()))
}

/// What keeps the run from a status.
#[wasm_bindgen]
pub fn run_why_not(run: u32, target: &str) -> Result<String, Failed> {
    let known = Status::ALL.into_iter().find(|status| status.as_str() == target);
    let target = known.ok_or_else(|| misuse("expected the name of a status"))?;
    Ok(json_text(&find(run)?.borrow().why_not(target)))
}

/// The requests that would be taken now.
#[wasm_bindgen]
pub fn run_allowed(run: u32, now: f64) -> Result<String, Failed> {
    Ok(json_text(&find(run)?.borrow().allowed(time(now)?)))
}
