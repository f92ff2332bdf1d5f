//! Plans and runs. What users see of them is documented in `js/plan.ts` and `js/run.ts`.

use std::sync::Arc;

use serde::Serialize;
use turnlatch::json::json_text;
use turnlatch::types::JournalEntry;
use turnlatch::{Effect, Event, Receipt, Status, Transition};
use wasm_bindgen::prelude::*;

use crate::convert::{data, named, text, time};
use crate::errors::Thrown;

/// An admitted run's settings.
#[wasm_bindgen]
pub struct Plan(pub(crate) Arc<turnlatch::Plan>);

#[wasm_bindgen]
impl Plan {
    pub fn restore(plan: &[u8]) -> Result<Plan, Thrown> {
        Ok(Plan(turnlatch::Plan::from_json(text(plan)?)?.into()))
    }

    #[wasm_bindgen(getter)]
    pub fn run_id(&self) -> String {
        self.0.run_id.clone()
    }

    pub fn to_json(&self) -> Result<JsValue, JsValue> {
        data(&*self.0)
    }
}

/// One execution of a skill for one request.
#[wasm_bindgen]
pub struct Run(pub(crate) turnlatch::Run);

#[wasm_bindgen]
impl Run {
    #[wasm_bindgen(unchecked_return_type = "[Run, Transition]")]
    pub fn create(plan: &Plan, now: f64) -> Result<Vec<JsValue>, JsValue> {
        let (run, created) = turnlatch::Run::create(plan.0.clone(), time(now)?);
        Ok(vec![Run(run).into(), transition(created, None).into()])
    }

    pub fn restore(snapshot: &[u8]) -> Result<Run, Thrown> {
        Ok(Run(turnlatch::Run::restore(text(snapshot)?)?))
    }

    /// Applies one event, given as JSON text; the one long text of a finished turn may stand beside it.
    pub fn apply(&mut self, event: &[u8], long_text: Option<Box<[u8]>>, now: f64) -> Result<String, Thrown> {
        let applied = self.applied(event, long_text.as_deref(), now)?;
        Ok(transition(applied, long_text.as_deref()))
    }

    fn applied(&mut self, event: &[u8], long_text: Option<&[u8]>, now: f64) -> Result<Transition, Thrown> {
        // An invalid time is reported before an invalid event (BAD-7).
        let now = time(now)?;
        let mut event = Event::from_json(text(event)?)?;
        if let Some(long_text) = long_text {
            event = event.with_text(text(long_text)?)?;
        }
        Ok(self.0.apply(event, now)?)
    }

    /// What is worth measuring of an event that was rejected. An invalid time does not keep it from being observed.
    #[cfg(feature = "observe")]
    pub fn observe_rejected(&self, event: &str, code: &str, now: f64) -> Result<JsValue, JsValue> {
        data(&self.0.observe_rejected(event, code, time(now).unwrap_or_default()))
    }

    #[wasm_bindgen(getter)]
    pub fn plan(&self) -> Plan {
        Plan(self.0.plan().clone())
    }

    pub fn copy(&self) -> Run {
        Run(self.0.clone())
    }

    pub fn snapshot(&self) -> String {
        self.0.snapshot()
    }

    #[wasm_bindgen(getter)]
    pub fn run_id(&self) -> String {
        self.0.plan().run_id.clone()
    }

    #[wasm_bindgen(getter)]
    pub fn status(&self) -> String {
        self.0.status().as_str().to_owned()
    }

    #[wasm_bindgen(getter)]
    pub fn ended(&self) -> bool {
        self.0.status().is_end()
    }

    #[wasm_bindgen(getter)]
    #[expect(clippy::cast_precision_loss, reason = "it counts events one by one and never comes near 2^53")]
    pub fn revision(&self) -> f64 {
        self.0.revision() as f64
    }

    #[wasm_bindgen(getter)]
    pub fn attempt_number(&self) -> u32 {
        self.0.attempt_number()
    }

    #[wasm_bindgen(getter)]
    pub fn session_handle(&self) -> Option<String> {
        self.0.session_handle().map(str::to_owned)
    }

    #[wasm_bindgen(getter)]
    pub fn turn_text_bytes(&self) -> usize {
        self.0.plan().limits.turn_text_bytes
    }

    #[wasm_bindgen(getter)]
    pub fn prompt_bytes(&self) -> usize {
        self.0.plan().limits.prompt_bytes
    }

    pub fn status_view(&self) -> String {
        json_text(&self.0.status_view())
    }

    pub fn pending_view(&self) -> String {
        json_text(&self.0.pending_view())
    }

    pub fn history(&self) -> Result<JsValue, JsValue> {
        data(&self.0.history())
    }

    pub fn outstanding(&self) -> Result<JsValue, JsValue> {
        data(&self.0.outstanding())
    }

    pub fn explain(&self) -> String {
        json_text(&self.0.explain())
    }

    pub fn why_not(&self, target: &str) -> Result<JsValue, JsValue> {
        data(&self.0.why_not(named(&Status::ALL, Status::as_str, target)?))
    }

    pub fn allowed(&self, now: f64) -> Result<JsValue, JsValue> {
        data(&self.0.allowed(time(now)?))
    }
}

#[derive(Serialize)]
struct TransitionOut<'a> {
    effects: &'a [Effect],
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<&'a Receipt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

/// What came of an event, in lines of JSON text: the answer, the observation, and the entry in one part, or in two between
/// which the long text stands. What hosts do not read is never parsed, and a text that JavaScript has is not sent back.
fn transition(transition: Transition, long_text: Option<&[u8]>) -> String {
    let Transition { effects, receipt, entry, .. } = &transition;
    let answer =
        TransitionOut { effects, receipt: receipt.as_ref(), revision: entry.as_ref().map(|entry| entry.revision) };
    let mut lines = json_text(&answer);
    lines.push('\n');
    #[cfg(feature = "observe")]
    if let Some(observation) = &transition.observation {
        lines.push_str(&json_text(observation));
    }
    if let Some(entry) = transition.entry {
        lines.push('\n');
        lines.push_str(&entry_around(entry, long_text));
    }
    lines
}

/// An entry's JSON text, without the long text if it is recorded as it came.
fn entry_around(mut entry: JournalEntry, long_text: Option<&[u8]>) -> String {
    if let Event::TurnFinished(report) = &mut entry.event
        && let Some(text) = &mut report.text
        && long_text.is_some_and(|long_text| long_text == text.as_bytes())
    {
        text.clear();
        // Within strings its quotes would be escaped, and what stands before it has no such member.
        return json_text(&entry).replacen(EMPTY_TEXT, "\"text\":\n", 1);
    }
    json_text(&entry)
}

const EMPTY_TEXT: &str = "\"text\":\"\"";
