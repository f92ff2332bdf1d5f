//! Whatever is handed back as a snapshot: refused, or a run that keeps every law from there on.

use serde_json::Value;
use turnlatch::hosting::RecoveryFacts;
use turnlatch::{Run, Status, Timestamp};

use super::{assert_load_error, choices, forgery, text, vector_steps};
use crate::hostile::Throw;
use crate::{laws, tamper};

/// Loads a snapshot: the first byte says whether the rest is its text, the text of a run without its digest, or what a
/// run lived through and how its snapshot was forged.
///
/// # Panics
/// If a law does not hold.
pub fn check(bytes: &[u8]) {
    let ([mode], rest) = choices::<1>(bytes);
    let snapshot = match mode % 4 {
        0 => text(rest).to_owned(),
        1 => signed(text(rest)),
        _ => {
            let (run, _, changes) = forgery::lived(rest);
            let mut document: Value = serde_json::from_str(&run.snapshot()).expect("a snapshot is JSON");
            forgery::forge(&mut document["run"], changes);
            signed(&document["run"].to_string())
        }
    };
    match Run::restore(&snapshot) {
        Err(error) => assert_load_error(&error, ["SNAPSHOT_INVALID", "SNAPSHOT_VERSION_UNSUPPORTED"]),
        Ok(run) => assert_lives_on(run, bytes),
    }
}

/// What the vectors load, and forged lives.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = forgery::seeds(2);
    for life in &forgery::seeds(2) {
        let snapshot = forgery::lived(&life[1..]).0.snapshot();
        let content = snapshot.split_once("\"run\":").and_then(|(_, content)| content.strip_suffix('}'));
        seeds.push([&[0], snapshot.as_bytes()].concat());
        seeds.push([&[1], content.expect("a snapshot").as_bytes()].concat());
    }
    let loaded = vector_steps().into_iter().filter_map(|(_, step)| Some(step["load"]["text"].as_str()?.to_owned()));
    seeds.extend(loaded.map(|text| [&[0], text.as_bytes()].concat()));
    seeds
}

/// A snapshot of this content whose digest fits.
fn signed(content: &str) -> String {
    tamper::resign_snapshot(&format!(r#"{{"version":1,"digest":"unsigned","run":{content}}}"#))
}

/// What every runtime can count (HOST-6).
const MOST_EVENTS: u64 = (1 << 53) - 1;

fn assert_lives_on(mut run: Run, bytes: &[u8]) {
    laws::assert_state(&run);
    let snapshot = run.snapshot();
    assert_eq!(Run::restore(&snapshot).as_ref(), Ok(&run), "what was loaded can be stored");
    assert_answers(&run);
    let mut now = run.updated_at();
    // The end of the input is also what happens next; whatever it is, it happens to a run that keeps the laws.
    for throw in bytes.rchunks_exact(4).take(4).filter_map(|chunk| chunk.try_into().ok()) {
        let [kind, aim, detail, time]: [u8; 4] = throw;
        let throw = Throw { kind, aim, detail, time };
        let before = run.clone();
        now = throw.at(&run, now);
        let result = run.apply(throw.event(&run), now);
        laws::assert_step(&before, &result, &run);
        laws::assert_state(&run);
        let stored = Run::restore(&run.snapshot());
        // A forged run may have counted all the events that can be counted.
        if run.revision() > MOST_EVENTS {
            assert_eq!(stored.map_err(|error| error.place), Err("life.revision".to_owned()));
            return;
        }
        assert_eq!(stored.as_ref(), Ok(&run), "a run that goes on can be stored");
    }
}

/// Whoever asks is answered.
pub(super) fn assert_answers(run: &Run) {
    let (view, pending) = (run.status_view(), run.pending_view());
    assert_eq!((view.status, pending.status), (run.status(), run.status()));
    assert_eq!(run.explain().status, run.status());
    for status in [Status::Succeeded, Status::Failed, Status::WaitingUser, Status::Canceled] {
        assert_eq!(run.why_not(status).reached, status == run.status());
    }
    assert_eq!(run.allowed(Timestamp::MAX).revision, run.revision());
    for bits in 0..8_u8 {
        let found = RecoveryFacts { process_alive: bits & 1 != 0, begun: bits & 2 != 0, slot_lost: bits & 4 != 0 };
        let resumption = run.after_restart(found);
        assert!(!run.status().is_end() || resumption.effects.is_empty(), "an ended run asks for nothing");
    }
}
