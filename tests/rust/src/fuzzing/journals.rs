//! Whatever is handed back as a journal: refused, or what it replays to keeps every law.

use serde_json::Value;
use turnlatch::inspect::Replayer;
use turnlatch::persist::{Replayed, replay};
use turnlatch::{Journal, Run};

use super::snapshots::assert_answers;
use super::{assert_load_error, choices, forgery, text, vector_steps};
use crate::hostile::plans;
use crate::{laws, tamper};

/// Loads a journal: the first byte says whether the rest is its text, its text with digests that do not fit, or what a
/// run lived through and how its journal was forged.
///
/// # Panics
/// If a law does not hold.
pub fn check(bytes: &[u8]) {
    let ([mode], rest) = choices::<1>(bytes);
    let journal = match mode % 4 {
        0 => text(rest).to_owned(),
        1 => resigned(text(rest).to_owned()),
        _ => {
            let (run, journal, changes) = forgery::lived(rest);
            let mut document: Value = serde_json::from_str(&journal.export_run(run.plan())).expect("a record is JSON");
            forgery::forge(&mut document, changes);
            resigned(document.to_string())
        }
    };
    let read = Journal::from_json(&journal);
    if let Err(error) = &read {
        assert_load_error(error, CODES);
    }
    match Journal::import_run(&journal) {
        Err(error) => assert_load_error(&error, CODES),
        Ok((plan, journal)) => {
            assert_eq!(read.as_ref(), Ok(&journal), "every record is a journal (HIST-6)");
            let record = journal.export_run(&plan);
            let again = Journal::import_run(&record).expect("what was loaded can be stored");
            assert_eq!(again, (plan.clone(), journal.clone()));
            assert_replay(plan, &journal);
        }
    }
    if let Ok(journal) = read {
        assert_eq!(Journal::from_json(&journal.to_json()).as_ref(), Ok(&journal), "what was loaded can be stored");
        let lines = journal.lines();
        let by_lines = Journal::from_lines(journal.run_id(), lines.iter().map(String::as_str));
        assert_eq!(by_lines.as_ref(), Ok(&journal), "a journal is its lines");
        assert_replay((*plans()[0].1).clone(), &journal);
    }
}

/// What the vectors load, and forged lives.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = forgery::seeds(2);
    for life in &forgery::seeds(2) {
        let (run, journal, _) = forgery::lived(&life[1..]);
        let text = if life[3] % 2 == 0 { journal.to_json() } else { journal.export_run(run.plan()) };
        seeds.push([&[life[1] / 64 % 2], text.as_bytes()].concat());
    }
    let loaded = vector_steps().into_iter().filter_map(|(_, step)| Some(step["load"]["text"].as_str()?.to_owned()));
    seeds.extend(loaded.map(|text| [&[0], text.as_bytes()].concat()));
    seeds
}

const CODES: [&str; 2] = ["JOURNAL_INVALID", "JOURNAL_VERSION_UNSUPPORTED"];

/// The journal with digests that fit, if it has the form of one.
fn resigned(text: String) -> String {
    let document: Value = serde_json::from_str(&text).unwrap_or_default();
    let has_entries = document["entries"].as_array().is_some_and(|entries| entries.iter().all(Value::is_object));
    if has_entries && document["run_id"].is_string() { tamper::resign_journal(&text) } else { text }
}

fn assert_replay(plan: turnlatch::Plan, journal: &Journal) {
    match replay(plan.clone(), journal) {
        Err(error) => assert_load_error(&error, CODES),
        Ok(replayed) => {
            let Replayed { run, effects, .. } = &replayed;
            laws::assert_state(run);
            assert_eq!((effects.len(), run.revision()), (journal.len(), journal.len() as u64));
            assert_eq!(replay(plan.clone(), journal).as_ref(), Ok(&replayed), "the same journal, the same run");
            assert_eq!(Run::restore(&run.snapshot()).as_ref(), Ok(run), "what was replayed can be stored");
            assert_answers(run);
            let mut replayer = Replayer::new(plan);
            for line in journal.lines() {
                replayer.next(&line).expect("a line that was replayed");
            }
            assert_eq!(replayer.run(), Some(run), "line by line, a journal leads to the same run (HIST-5)");
        }
    }
}
