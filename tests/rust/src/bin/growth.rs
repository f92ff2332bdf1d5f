//! Work of growing size, for `scripts/growth.py`, which counts its instructions: a turn of twice the text takes twice as many,
//! and an event as many in a long history, or among many runs, as in a young run alone.
//!
//! Tells each piece of work on a line, `kind <TAB> name <TAB> size`, and then does it in [`measured_work`] and nowhere else.

use std::sync::Arc;

use serde_json::{Value, json};
use turnlatch::agents::decode_stream;
use turnlatch::{Event, HostSettings, Mode, Plan, Reply, Run, RunRequest, Skill, Timestamp, TurnReport, admit};
use turnlatch_tests::hostile::hostile_texts;

fn main() {
    let plan = plan();
    // What is made once and kept, such as tables of the validator, is not the first one's.
    counted("nothing", "warm up", 0, || drop(run_with_history(&plan, 2)));
    texts(&plan);
    streams();
    histories(&plan);
    crowds(&plan);
}

/// Whatever is done in here is counted.
#[inline(never)]
fn measured_work(work: &mut dyn FnMut()) {
    work();
}

fn counted(kind: &str, name: &str, size: usize, mut work: impl FnMut()) {
    println!("{kind}\t{name}\t{size}");
    measured_work(&mut work);
}

/// Texts that were made to cost more than their size.
fn texts(plan: &Arc<Plan>) {
    for hostile in hostile_texts() {
        for size in TEXTS {
            let mut run = running(plan);
            let mut event = Some(Event::TurnFinished(hostile.as_text(size)));
            counted("text", hostile.name, size, || tell(&mut run, event.take().expect("once")));
        }
    }
}

/// What an agent's program prints.
fn streams() {
    let row =
        r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"I have looked at it."}}"#;
    for size in TEXTS {
        let stdout = format!("{row}\n").repeat(size / row.len());
        let stream = serde_json::json!({"format": "codex-jsonl", "stdout": stdout, "exit_code": 0});
        let stream = turnlatch::types::Stream::from_value(stream).expect("a stream");
        counted("text", "a stream of rows", size, || drop(decode_stream(&stream)));
    }
}

/// One more event of each kind, in a run that has asked and been answered so many times.
fn histories(plan: &Arc<Plan>) {
    for size in HISTORIES {
        let mut run = run_with_history(plan, size);
        let id = size as u64 + 1;
        counted("history", "a status view", size, || drop(run.status_view()));
        counted("history", "what is allowed", size, || drop(run.allowed(Timestamp::default())));
        counted("history", "what is outstanding", size, || drop(run.outstanding()));
        counted("history", "a reply that was taken before", size, || tell(&mut run, answer(1)));
        counted("history", "a stale reply", size, || {
            let stale = Reply { idempotency_key: None, ..reply(1) };
            run.apply(Event::Reply(stale), Timestamp::default()).expect("a receipt");
        });
        counted("history", "a reply", size, || tell(&mut run, answer(id)));
        let slot_id = format!("r1/s{}", id + 1);
        counted("history", "a slot", size, || tell(&mut run, Event::SlotGranted { slot_id: slot_id.clone() }));
        counted("history", "a turn", size, || tell(&mut run, asked(size + 2)));
    }
}

/// One more event among so many runs of the same plan.
fn crowds(plan: &Arc<Plan>) {
    for size in CROWDS {
        let mut runs: Vec<Run> = (0..size).map(|_| running(plan)).collect();
        let run = &mut runs[size / 2];
        counted("runs", "a turn", size, || tell(run, asked(1)));
        counted("runs", "a reply", size, || tell(run, answer(1)));
        counted("runs", "a run more", size, || drop(Run::create(plan.clone(), Timestamp::default())));
    }
}

fn plan() -> Arc<Plan> {
    let schema = json!({"type": "object", "required": ["answer"], "properties": {"answer": {"type": "integer"}}});
    let skill = Skill::new().modes([Mode::Interactive]).output_schema(schema);
    let request = RunRequest::new("r1", "codex").mode(Mode::Interactive);
    admit(&skill, &request, &HostSettings::with_engines(["codex"])).expect("a plan")
}

fn running(plan: &Arc<Plan>) -> Run {
    let (mut run, _) = Run::create(plan.clone(), Timestamp::default());
    tell(&mut run, Event::SlotGranted { slot_id: "r1/s1".to_owned() });
    run
}

/// A run that waits on its next question.
fn run_with_history(plan: &Arc<Plan>, questions: usize) -> Run {
    let mut run = running(plan);
    for number in 1..=questions {
        tell(&mut run, asked(number));
        tell(&mut run, answer(number as u64));
        tell(&mut run, Event::SlotGranted { slot_id: format!("r1/s{}", number + 1) });
    }
    tell(&mut run, asked(questions + 1));
    run
}

fn asked(attempt: usize) -> Event {
    Event::TurnFinished(TurnReport::with_text(u32::try_from(attempt).expect("a number"), "Which one?"))
}

fn answer(id: u64) -> Event {
    Event::Reply(reply(id))
}

fn reply(id: u64) -> Reply {
    let response = Value::from("this one");
    Reply { interaction_id: id, response, idempotency_key: Some(format!("key {id}")), expected_revision: None }
}

fn tell(run: &mut Run, event: Event) {
    run.apply(event, Timestamp::default()).expect("an event that fits");
}

const TEXTS: [usize; 2] = [32 * 1024, 128 * 1024];
const HISTORIES: [usize; 2] = [10, 400];
const CROWDS: [usize; 2] = [10, 1000];
