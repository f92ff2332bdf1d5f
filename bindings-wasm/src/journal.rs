//! Journals and replaying them.

use turnlatch::json::json_text;
use turnlatch::types::JournalEntry;
use wasm_bindgen::prelude::*;

use crate::convert::{data, text};
use crate::errors::Thrown;
use crate::run::{Plan, Run};

pub(crate) fn read_entry(entry: &[u8]) -> Result<JournalEntry, Thrown> {
    Ok(JournalEntry::from_json(text(entry)?)?)
}

/// What happened to a run, in order and chained.
#[wasm_bindgen]
pub struct Journal(turnlatch::Journal);

#[wasm_bindgen]
impl Journal {
    /// An empty journal for a run of this plan.
    #[wasm_bindgen(constructor)]
    pub fn new(plan: &Plan) -> Journal {
        Journal(turnlatch::Journal::new(&plan.0))
    }

    /// Reads a journal back from its document.
    pub fn restore(document: &[u8]) -> Result<Journal, Thrown> {
        Ok(Journal(turnlatch::Journal::from_json(text(document)?)?))
    }

    /// Reads a journal back from the texts of its entries.
    #[wasm_bindgen(js_name = fromLines)]
    pub fn from_lines(run_id: &[u8], lines: Vec<js_sys::Uint8Array>) -> Result<Journal, Thrown> {
        let lines: Vec<Vec<u8>> = lines.iter().map(js_sys::Uint8Array::to_vec).collect();
        let lines: Vec<&str> = lines.iter().map(|line| text(line)).collect::<Result<_, _>>()?;
        Ok(Journal(turnlatch::Journal::from_lines(text(run_id)?, lines)?))
    }

    /// How many entries there are.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// The id of the run that it is about.
    #[wasm_bindgen(getter, js_name = runId)]
    pub fn run_id(&self) -> String {
        self.0.run_id().to_owned()
    }

    /// The entries as JSON texts.
    pub fn lines(&self) -> Vec<String> {
        self.0.lines()
    }

    /// Appends the `entry` of a transition.
    pub fn push(&mut self, entry: &[u8]) -> Result<(), Thrown> {
        self.0.push(read_entry(entry)?);
        Ok(())
    }

    /// The journal as JSON text.
    pub fn serialize(&self) -> String {
        self.0.to_json()
    }

    /// The journal with its plan in it, as JSON text.
    #[wasm_bindgen(js_name = exportRun)]
    pub fn export_run(&self, plan: &Plan) -> String {
        self.0.to_record(&plan.0)
    }

    /// Reads what `exportRun` wrote.
    #[wasm_bindgen(js_name = importRun, unchecked_return_type = "[Plan, Journal]")]
    pub fn import_run(document: &[u8]) -> Result<Vec<JsValue>, Thrown> {
        let (plan, journal) = turnlatch::Journal::from_record(text(document)?)?;
        Ok(vec![Plan(plan.into()).into(), Journal(journal).into()])
    }

    /// Makes the run again, with the effects of every entry.
    #[wasm_bindgen(unchecked_return_type = "[Run, unknown]")]
    pub fn replay(&self, plan: &Plan) -> Result<Vec<JsValue>, JsValue> {
        let replayed = turnlatch::persist::replay(plan.0.clone(), &self.0).map_err(Thrown::from)?;
        Ok(vec![Run(replayed.run).into(), data(&replayed.effects)?])
    }
}

/// Makes a run again from the lines of its journal, one by one.
#[wasm_bindgen]
pub struct Replayer(turnlatch::inspect::Replayer);

#[wasm_bindgen]
impl Replayer {
    /// Before the first line.
    #[wasm_bindgen(constructor)]
    pub fn new(plan: &Plan) -> Replayer {
        Replayer(turnlatch::inspect::Replayer::new(plan.0.clone()))
    }

    /// Behind the line that brought this run where it is.
    #[wasm_bindgen]
    pub fn after(run: &Run) -> Replayer {
        Replayer(run.0.clone().into())
    }

    /// Replays the next line, and returns its timeline entry as JSON text.
    pub fn next(&mut self, line: &[u8]) -> Result<String, Thrown> {
        Ok(json_text(&self.0.next(text(line)?)?))
    }

    /// The run after the last line.
    #[wasm_bindgen(getter)]
    pub fn run(&self) -> Option<Run> {
        self.0.run().cloned().map(Run)
    }
}
