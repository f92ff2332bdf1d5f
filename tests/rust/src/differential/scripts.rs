//! One random script: what is thrown at a run depends on where the run is by then.

use std::sync::LazyLock;

use serde_json::{Value, json};
use turnlatch::{Run, Timestamp};

use super::coverage::Coverage;
use super::dice::Dice;
use super::plans::given;
use crate::hostile::{Throw, start_of_time};
use crate::transcript::{Script, Telling, TextMark, Thrown};
use crate::{expand, vector_files};

/// The script of this number, and the transcript of the core.
///
/// # Panics
/// If a law does not hold that every step keeps.
#[must_use]
pub fn script(seed: u64, number: usize, coverage: &mut Coverage) -> (Script, Vec<String>) {
    let mut dice = Dice::of_script(seed, number);
    let mut now = start_of_time();
    let mut script = Script { given: given(&mut dice), at: now.as_millis(), events: Vec::new() };
    let mut telling = Telling::begin(&script.given, script.at);
    let mut left = 1 + dice.below(LONGEST);
    while let Some(run) = telling.run().filter(|_| left > 0) {
        if run.status().is_end() {
            left = left.min(AFTER_THE_END);
        }
        let thrown = thrown(&mut dice, run, &mut now);
        coverage.note_step(&thrown, &telling.tell(&thrown));
        script.events.push(thrown);
        left -= 1;
    }
    coverage.note_end(telling.run());
    let lines = telling.end();
    coverage.note_admission(&lines[0]);
    (script, lines)
}

fn thrown(dice: &mut Dice, run: &Run, now: &mut Timestamp) -> Thrown {
    if dice.one_in(24) {
        return Thrown::Reload { reload: dice.pick(&SOURCES).to_owned() };
    }
    let throw = Throw { kind: dice.byte(), aim: dice.byte(), detail: dice.byte(), time: dice.byte() };
    *now = throw.at(run, *now);
    let at = json!(now.as_millis());
    let event = json!(throw.event(run));
    let text = |text: String| Thrown::Text(text, at.clone(), TextMark::Text);
    match dice.below(64) {
        0 => Thrown::Value(dice.value(3), at),
        1 => Thrown::Value(event, hostile_time(dice)),
        2..=4 => Thrown::Value(spoilt(dice, event), at),
        5 => {
            let whole = event.to_string();
            text(whole.chars().take(dice.below(whole.len())).collect())
        }
        6 | 7 => text(spelt(dice, run)),
        8 | 9 => Thrown::Value(streamed(dice, run), at),
        10..=20 => text(event.to_string()),
        _ => Thrown::Value(event, at),
    }
}

/// A member is gone, is something else, or was never known.
fn spoilt(dice: &mut Dice, mut event: Value) -> Value {
    let Value::Object(members) = &mut event else { return event };
    let keys: Vec<String> = members.keys().cloned().collect();
    let key = &keys[dice.below(keys.len())];
    match dice.below(6) {
        0 => _ = members.shift_remove(key),
        1 => _ = members.insert("reason_".to_owned(), json!("what is this?")),
        _ => _ = members.insert(key.clone(), dice.value(3)),
    }
    event
}

/// An event whose text says what no value of every language could: how numbers and keys are spelt.
fn spelt(dice: &mut Dice, run: &Run) -> String {
    let question = run.pending().map_or(1, |pending| pending.interaction_id);
    let attempt = run.attempt_number();
    let raw = if dice.one_in(3) { dice.number() } else { dice.pick(&SPELT).to_owned() };
    match dice.below(4) {
        0 => format!(r#"{{"type": "reply", "interaction_id": {question}, "response": {raw}}}"#),
        1 => format!(r#"{{"type": "turn_finished", "attempt_number": {attempt}, "output": {{"answer": {raw}}}}}"#),
        2 => format!(r#"{{"type": "reply", "interaction_id": {question}, "response": "a", "idempotency_key": {raw}}}"#),
        _ => {
            let words = json!(format!("{{\"answer\": {raw}, \"__SKILL_DONE__\": true}}"));
            format!(r#"{{"type": "turn_finished", "attempt_number": {attempt}, "text": {words}}}"#)
        }
    }
}

/// A turn of which the host tells what the agent's program printed: a stream of the vectors.
fn streamed(dice: &mut Dice, run: &Run) -> Value {
    static STREAMS: LazyLock<Vec<Value>> = LazyLock::new(|| {
        let files = vector_files();
        let steps = files.iter().flat_map(|(_, file)| &file.vectors).flat_map(|vector| &vector.steps);
        let streams = steps.filter_map(|step| step.get("stream")).map(expand);
        streams.filter(|stream| stream.to_string().len() < LONGEST_STREAM).collect()
    });
    let stream = &STREAMS[dice.below(STREAMS.len())];
    json!({"type": "turn_finished", "attempt_number": run.attempt_number(), "stream": stream})
}

fn hostile_time(dice: &mut Dice) -> Value {
    let times = [json!(-1), json!(1.5), json!(true), json!("1"), Value::Null, json!([]), json!(1_u64 << 53)];
    times[dice.below(times.len())].clone()
}

const LONGEST: usize = 60;
/// An ended run is looked at a little longer, but there is more to see elsewhere.
const AFTER_THE_END: usize = 5;
const LONGEST_STREAM: usize = 3_000;
const SOURCES: [&str; 4] = ["snapshot", "journal", "compact_journal", "record"];
#[rustfmt::skip]
const SPELT: [&str; 16] = [
    "7.0", "-0.0", "-0", "1e300", "1E2", "1e999", "12345678901234567890", "123456789012345678901234567890", "0.1e1", "01",
    r#""\ud83d\ude00""#, r#""\ud800""#, r#"{"a": 1, "a": 2}"#, r#"{"b": 1, "a": [1, 2, ]}"#, "[[[[[[[[]]]]]]]]", "\u{feff}1",
];
