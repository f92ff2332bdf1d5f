//! The core itself, as a Rust host calls it.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::{Value, json};
use turnlatch::admission::SchemaTexts;
use turnlatch::agents::decode_stream;
use turnlatch::persist::replay;
use turnlatch::types::{Stream, StreamFormat};
use turnlatch::{
    Event, HostSettings, Journal, Plan, Reply, Run, RunRequest, Skill, Timestamp, Transition, TurnReport, admit,
};

use crate::Case;
use crate::timing::{Prepared, at_once, timed};

static SKILL: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("../../skill.json")).expect("JSON"));
const QUESTION: &str = "There are three notes. Which one shall I summarise?";
const DONE: &str = r#"{"summary":"s","items":[],"__SKILL_DONE__":true}"#;
const JOURNAL_LENGTH: usize = 10_000;

pub(crate) fn prepare(case: &Case) -> Option<Prepared> {
    let plan = plan("r1");
    match case.what.as_str() {
        "turn" => Some(turn(&plan, case)),
        "lifecycle" => Some(repeated(move || lifecycle(&plan, |_| {}), |run| run.status().as_str().into())),
        "journal" => Some(repeated(
            move || {
                let mut journal = Journal::new(&plan);
                lifecycle(&plan, |applied| applied.entry.into_iter().for_each(|entry| journal.push(entry)));
                journal
            },
            |journal| journal.len().into(),
        )),
        "snapshot" => {
            let run = waiting_run(&plan);
            Some(repeated(move || run.snapshot(), |snapshot| snapshot.len().into()))
        }
        "restore" => {
            let snapshot = waiting_run(&plan).snapshot();
            let restored = move || Run::restore(&snapshot).expect("a snapshot of our own");
            Some(repeated(restored, |run| run.status().as_str().into()))
        }
        "replay" => {
            let text = long_journal(&plan);
            let replayed = move || {
                let journal = Journal::from_json(&text).expect("a journal of our own");
                replay(plan.clone(), &journal).expect("its plan")
            };
            Some(repeated(replayed, |replayed| replayed.run.revision().into()))
        }
        _ => None,
    }
}

/// One turn of a run that is ready for it, from the text to what the host must do.
fn turn(plan: &Arc<Plan>, case: &Case) -> Prepared {
    let before = running_run(plan);
    let finish: fn(&mut Run, String) -> Transition = if case.is_stream { finish_with_stream } else { finish_with_text };
    let text = case.text.clone();
    let mut run = before.clone();
    finish(&mut run, text.clone());
    let batch = move |calls| {
        let prepare = || (before.clone(), text.clone());
        timed(calls, at_once(text.len()), prepare, |(run, text)| finish(run, std::mem::take(text)))
    };
    Prepared { decision: decision(&run), batch: Box::new(batch) }
}

fn finish_with_text(run: &mut Run, text: String) -> Transition {
    tell(run, Event::TurnFinished(TurnReport::with_text(1, text)))
}

fn finish_with_stream(run: &mut Run, stdout: String) -> Transition {
    let stream = Stream { format: StreamFormat::CodexJsonl, stdout, stderr: None, exit_code: Some(0) };
    let mut report = TurnReport::of_attempt(1);
    report.exit_code = stream.exit_code;
    report.take_decoded(decode_stream(&stream));
    tell(run, Event::TurnFinished(report))
}

fn decision(run: &Run) -> Value {
    match run.status_view().data {
        Some(data) => json!({ "status": run.status().as_str(), "items": data["items"].as_array().map(Vec::len) }),
        None => json!({ "status": run.status().as_str() }),
    }
}

/// Work that needs nothing prepared.
fn repeated<T>(work: impl Fn() -> T + 'static, shown: impl FnOnce(&T) -> Value) -> Prepared {
    let decision = shown(&work());
    let batch = move |calls| -> Duration { timed(calls, calls.min(64), || (), |()| work()) };
    Prepared { decision, batch: Box::new(batch) }
}

/// Queued, running, waiting, queued, running, succeeded.
fn lifecycle(plan: &Arc<Plan>, mut keep: impl FnMut(Transition)) -> Run {
    let (mut run, created) = Run::create(plan.clone(), Timestamp::default());
    keep(created);
    keep(grant(&mut run, 1));
    keep(tell(&mut run, Event::TurnFinished(TurnReport::with_text(1, "Which one?"))));
    keep(tell(&mut run, Event::Reply(Reply::text(1, "this one"))));
    keep(grant(&mut run, 2));
    keep(tell(&mut run, Event::TurnFinished(TurnReport::with_text(2, DONE))));
    run
}

fn running_run(plan: &Arc<Plan>) -> Run {
    let (mut run, _) = Run::create(plan.clone(), Timestamp::default());
    grant(&mut run, 1);
    run
}

fn waiting_run(plan: &Arc<Plan>) -> Run {
    let mut run = running_run(plan);
    finish_with_text(&mut run, QUESTION.to_owned());
    run
}

/// The text of a journal in which one question follows another.
fn long_journal(plan: &Arc<Plan>) -> String {
    let mut journal = Journal::new(plan);
    let (mut run, created) = Run::create(plan.clone(), Timestamp::default());
    journal.push(created.entry.expect("the first entry"));
    let mut turns = 0;
    while journal.len() < JOURNAL_LENGTH {
        turns += 1;
        let asked = TurnReport::with_text(turns, QUESTION);
        let granted = grant(&mut run, turns);
        let rest = [Event::TurnFinished(asked), Event::Reply(Reply::text(turns.into(), "the second"))];
        let entries = std::iter::once(granted).chain(rest.map(|event| tell(&mut run, event)));
        let left = JOURNAL_LENGTH - journal.len();
        entries.take(left).for_each(|applied| journal.push(applied.entry.expect("something happened")));
    }
    journal.to_json()
}

fn grant(run: &mut Run, number: u32) -> Transition {
    let slot_id = format!("{}/s{number}", run.plan().run_id);
    tell(run, Event::SlotGranted { slot_id })
}

fn tell(run: &mut Run, event: Event) -> Transition {
    run.apply(event, Timestamp::default()).expect("an event that is taken")
}

/// The resident memory that this many waiting runs take, each with a plan of its own.
pub(crate) fn memory_of(runs: usize) -> usize {
    let before = resident_bytes();
    let living: Vec<Run> = (0..runs).map(|number| waiting_run(&plan(&format!("r{number}")))).collect();
    let after = resident_bytes();
    drop(living);
    after.saturating_sub(before)
}

/// What of a waiting run is somebody's words.
pub(crate) fn texts_of_a_run() -> usize {
    QUESTION.len()
}

fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux tells how much memory is in use");
    let resident: usize = pages.split(' ').nth(1).expect("the second number").parse().expect("a number");
    resident * 4096
}

pub(crate) fn output_schema() -> String {
    SKILL["output_schema"].to_string()
}

fn plan(run_id: &str) -> Arc<Plan> {
    let mut request = SKILL["request"].clone();
    request["run_id"] = run_id.into();
    let host = HostSettings::with_engines(["codex"]);
    let texts = SchemaTexts { output_schema: Some(output_schema()), ..SchemaTexts::default() };
    let skill = Skill::from_json(&SKILL["runner"].to_string(), &host.limits).schema_texts(texts);
    admit(&skill, &RunRequest::from_json(&request.to_string()), &host).expect("a plan")
}
