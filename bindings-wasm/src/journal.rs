//! Journals and their entries. They cross as text and nothing of them stays here, so nobody has to free them.

use turnlatch::{Effect, Journal, JournalEntry, Writable, Writer, json_text};
use wasm_bindgen::prelude::*;

use crate::convert::{first_line, read_texts, text, time, whole};
use crate::desk;
use crate::errors::{Failed, not_loaded, rejected};
use crate::run::{keep, read_event};
use crate::table::PLANS;

/// An entry as JavaScript keeps it: the event's text and, of a turn, the judgement.
fn read_entry(entry: &[u8], judged: Option<Box<[u8]>>, compact: bool) -> Result<JournalEntry, Failed> {
    let judged = judged.as_deref().map(text).transpose()?;
    let entry = JournalEntry::from_json(text(entry)?, judged).map_err(|error| not_loaded(&error))?;
    Ok(if compact { entry.compact() } else { entry })
}

/// An entry's JSON text.
#[wasm_bindgen]
#[must_use]
pub fn entry_text(entry: &[u8], judged: Option<Box<[u8]>>, compact: bool) -> i32 {
    desk::tell(|| Ok(json_text(&read_entry(entry, judged, compact)?)))
}

/// An entry's JSON text, chained to the text before it.
#[wasm_bindgen]
#[must_use]
pub fn entry_line(
    entry: &[u8],
    judged: Option<Box<[u8]>>,
    compact: bool,
    run_id: &[u8],
    previous: Option<Box<[u8]>>,
) -> i32 {
    desk::tell(|| {
        let previous = previous.as_deref().map(text).transpose()?;
        let line = read_entry(entry, judged, compact)?.line_after(text(run_id)?, previous);
        line.map_err(|error| not_loaded(&error))
    })
}

/// The same for an entry as a run gave it, chained to the digest before it: that stands in the first line, and the event
/// behind it as it was applied.
#[wasm_bindgen]
#[must_use]
pub fn entry_chained(form: u32, revision: f64, at: f64, length: usize) -> i32 {
    desk::answer(length, &mut |given, told| {
        let (head, event) = first_line(given);
        let event = read_event(form, event).map_err(|error| rejected(&error))?;
        told.push_str(&JournalEntry::of(whole(revision), time(at)?, event).line_chained_to(head));
        Ok(())
    })
}

struct Loaded(Journal);

impl Writable for Loaded {
    fn write(&self, out: &mut Writer) {
        out.object(|out| {
            out.member("run_id", &self.0.run_id());
            out.member("lines", &self.0.lines());
        });
    }
}

/// Reads a journal back from its document, as its run's id and its lines.
#[wasm_bindgen]
#[must_use]
pub fn journal_from_json(document: &[u8]) -> i32 {
    desk::tell(|| {
        let journal = Journal::from_json(text(document)?).map_err(|error| not_loaded(&error))?;
        Ok(json_text(&Loaded(journal)))
    })
}

/// Reads a journal back from its lines, which may be written in other ways than ours.
#[wasm_bindgen]
#[must_use]
pub fn journal_from_lines(run_id: &[u8], lines: &[u8]) -> i32 {
    desk::tell(|| Ok(json_text(&Loaded(chained(run_id, lines)?))))
}

/// A journal's document.
#[wasm_bindgen]
#[must_use]
pub fn journal_to_json(run_id: &[u8], lines: &[u8]) -> i32 {
    desk::tell(|| Ok(chained(run_id, lines)?.to_json()))
}

/// A journal's document with its plan in it.
#[wasm_bindgen]
#[must_use]
pub fn record_to_json(plan: u32, run_id: &[u8], lines: &[u8]) -> i32 {
    desk::tell(|| {
        let plan = PLANS.with(|plans| plans.get(plan))?;
        Ok(chained(run_id, lines)?.to_record(&plan))
    })
}

struct Record {
    plan: u32,
    run_id: String,
    lines: Vec<String>,
}

impl Writable for Record {
    fn write(&self, out: &mut Writer) {
        out.object(|out| {
            out.member("plan", &self.plan);
            out.member("run_id", &self.run_id);
            out.member("lines", &self.lines);
        });
    }
}

/// Reads a record back, as its plan's handle and its lines.
#[wasm_bindgen]
#[must_use]
pub fn record_from_json(document: &[u8]) -> i32 {
    desk::tell(|| {
        let (plan, journal) = Journal::from_record(text(document)?).map_err(|error| not_loaded(&error))?;
        let (run_id, lines) = (plan.run_id.clone(), journal.lines());
        Ok(json_text(&Record { plan: PLANS.with(|plans| plans.add(plan.into())), run_id, lines }))
    })
}

struct Replayed<'a> {
    handle: u32,
    effects: &'a Vec<Vec<Effect>>,
}

impl Writable for Replayed<'_> {
    fn write(&self, out: &mut Writer) {
        out.object(|out| {
            out.member("handle", &self.handle);
            out.member("effects", self.effects);
        });
    }
}

/// Makes a run again from its plan and journal.
#[wasm_bindgen]
#[must_use]
pub fn journal_replay(plan: u32, run_id: &[u8], lines: &[u8]) -> i32 {
    desk::tell(|| {
        let plan = PLANS.with(|plans| plans.get(plan))?;
        let replayed = turnlatch::replay(plan, &chained(run_id, lines)?).map_err(|error| not_loaded(&error))?;
        Ok(json_text(&Replayed { handle: keep(replayed.run), effects: &replayed.effects }))
    })
}

fn chained(run_id: &[u8], lines: &[u8]) -> Result<Journal, Failed> {
    let lines = read_texts(lines)?;
    Journal::from_lines(text(run_id)?, lines.iter().map(String::as_str)).map_err(|error| not_loaded(&error))
}
