//! Journals and replaying them, as `js/journal.ts` documents them.

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
    #[wasm_bindgen(constructor)]
    pub fn new(plan: &Plan) -> Journal {
        Journal(turnlatch::Journal::new(&plan.0))
    }

    pub fn restore(document: &[u8]) -> Result<Journal, Thrown> {
        Ok(Journal(turnlatch::Journal::from_json(text(document)?)?))
    }

    pub fn from_lines(run_id: &[u8], lines: Vec<js_sys::Uint8Array>) -> Result<Journal, Thrown> {
        let lines: Vec<Vec<u8>> = lines.iter().map(js_sys::Uint8Array::to_vec).collect();
        let lines: Vec<&str> = lines.iter().map(|line| text(line)).collect::<Result<_, _>>()?;
        Ok(Journal(turnlatch::Journal::from_lines(text(run_id)?, lines)?))
    }

    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.0.len()
    }

    #[wasm_bindgen(getter)]
    pub fn run_id(&self) -> String {
        self.0.run_id().to_owned()
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lines()
    }

    pub fn push(&mut self, entry: &[u8]) -> Result<(), Thrown> {
        self.0.push(read_entry(entry)?);
        Ok(())
    }

    pub fn serialize(&self) -> String {
        self.0.to_json()
    }

    pub fn export_run(&self, plan: &Plan) -> String {
        self.0.export_run(&plan.0)
    }

    #[wasm_bindgen(unchecked_return_type = "[Plan, Journal]")]
    pub fn import_run(document: &[u8]) -> Result<Vec<JsValue>, Thrown> {
        let (plan, journal) = turnlatch::Journal::import_run(text(document)?)?;
        Ok(vec![Plan(plan.into()).into(), Journal(journal).into()])
    }

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
    #[wasm_bindgen(constructor)]
    pub fn new(plan: &Plan) -> Replayer {
        Replayer(turnlatch::inspect::Replayer::new(plan.0.clone()))
    }

    #[wasm_bindgen]
    pub fn after(run: &Run) -> Replayer {
        Replayer(run.0.clone().into())
    }

    pub fn next(&mut self, line: &[u8]) -> Result<String, Thrown> {
        Ok(json_text(&self.0.next(text(line)?)?))
    }

    #[wasm_bindgen(getter)]
    pub fn run(&self) -> Option<Run> {
        self.0.run().cloned().map(Run)
    }
}
