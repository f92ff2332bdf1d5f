//! Journals and their entries. They cross as text and nothing of them stays here, so nobody has to free them.

use serde::Serialize;
use turnlatch::json::json_text;
use turnlatch::types::JournalEntry;
use turnlatch::{Effect, Journal};
use wasm_bindgen::prelude::*;

use crate::convert::{read_texts, text};
use crate::errors::{Failed, not_loaded};
use crate::run::keep;
use crate::table::PLANS;

/// The entry without a turn's text: its digest and the recorded evaluation instead.
#[wasm_bindgen]
pub fn entry_compact(entry: &[u8]) -> Result<String, Failed> {
    Ok(json_text(&read_entry(entry)?.compact()))
}

/// An entry's JSON text, chained to the text before it.
#[wasm_bindgen]
pub fn entry_encode_chained(entry: &[u8], run_id: &[u8], previous: Option<Box<[u8]>>) -> Result<String, Failed> {
    let previous = previous.as_deref().map(text).transpose()?;
    read_entry(entry)?.encode_chained(text(run_id)?, previous).map_err(|error| not_loaded(&error))
}

fn read_entry(entry: &[u8]) -> Result<JournalEntry, Failed> {
    JournalEntry::from_json(text(entry)?).map_err(|error| not_loaded(&error))
}

#[derive(Serialize)]
struct Loaded<'j> {
    run_id: &'j str,
    lines: Vec<String>,
}

impl<'j> From<&'j Journal> for Loaded<'j> {
    fn from(journal: &'j Journal) -> Loaded<'j> {
        Loaded { run_id: journal.run_id(), lines: journal.lines() }
    }
}

/// Reads a journal back from its document, as its run's id and its lines.
#[wasm_bindgen]
pub fn journal_from_json(document: &[u8]) -> Result<String, Failed> {
    let journal = Journal::from_json(text(document)?).map_err(|error| not_loaded(&error))?;
    Ok(json_text(&Loaded::from(&journal)))
}

/// Reads a journal back from its lines, which may be written in other ways than ours.
#[wasm_bindgen]
pub fn journal_from_lines(run_id: &[u8], lines: &[u8]) -> Result<String, Failed> {
    Ok(json_text(&Loaded::from(&chained(run_id, lines)?)))
}

/// A journal's document.
#[wasm_bindgen]
pub fn journal_to_json(run_id: &[u8], lines: &[u8]) -> Result<String, Failed> {
    Ok(chained(run_id, lines)?.to_json())
}

/// A journal's document with its plan in it.
#[wasm_bindgen]
pub fn record_to_json(plan: u32, run_id: &[u8], lines: &[u8]) -> Result<String, Failed> {
    let plan = PLANS.with(|plans| plans.get(plan))?;
    Ok(chained(run_id, lines)?.to_record(&plan))
}

#[derive(Serialize)]
struct Record {
    plan: u32,
    run_id: String,
    lines: Vec<String>,
}

/// Reads a record back, as its plan's handle and its lines.
#[wasm_bindgen]
pub fn record_from_json(document: &[u8]) -> Result<String, Failed> {
    let (plan, journal) = Journal::from_record(text(document)?).map_err(|error| not_loaded(&error))?;
    let (run_id, lines) = (plan.run_id.clone(), journal.lines());
    Ok(json_text(&Record { plan: PLANS.with(|plans| plans.add(plan.into())), run_id, lines }))
}

#[derive(Serialize)]
struct Replayed<'a> {
    handle: u32,
    effects: &'a [Vec<Effect>],
}

/// Makes a run again from its plan and journal.
#[wasm_bindgen]
pub fn journal_replay(plan: u32, run_id: &[u8], lines: &[u8]) -> Result<String, Failed> {
    let plan = PLANS.with(|plans| plans.get(plan))?;
    let replayed = turnlatch::persist::replay(plan, &chained(run_id, lines)?).map_err(|error| not_loaded(&error))?;
    Ok(json_text(&Replayed { handle: keep(replayed.run), effects: &replayed.effects }))
}

fn chained(run_id: &[u8], lines: &[u8]) -> Result<Journal, Failed> {
    let lines = read_texts(lines)?;
    Journal::from_lines(text(run_id)?, lines.iter().map(String::as_str)).map_err(|error| not_loaded(&error))
}
