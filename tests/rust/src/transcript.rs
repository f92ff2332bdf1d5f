//! What a list of events comes to, step by step: for bindings that compare themselves with the core.

use std::fmt::Write;

use crate::vector::{Stage, admission};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use turnlatch::{Event, Run, Timestamp};

/// A plan and what happens to its run. The format is described in `tests/README.md`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The skill, the request and the host, as in a vector.
    #[serde(default)]
    pub given: Map<String, Value>,
    /// When the run is created.
    #[serde(default)]
    pub at: u64,
    /// The events with their times.
    pub events: Vec<Thrown>,
}

/// One event with its time: either may be any value.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Thrown {
    /// An event as a value.
    Value(Value, Value),
    /// An event as text, which need not be JSON; the last member is the word `text`.
    Text(String, Value, TextMark),
}

/// The word that tells an event's text from an event that is a string.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextMark {
    /// The event is given as text.
    Text,
}

/// Carries out a script.
///
/// # Panics
/// If the script is not of its form, or a law does not hold that every run keeps.
#[must_use]
pub fn transcript(script: &Script) -> Value {
    let plan = match admission(&script.given) {
        Ok(plan) => plan,
        Err(refusal) => return json!({"admission": {"refused": refusal}, "steps": []}),
    };
    let warnings = json!({"warnings": plan.warnings});
    let mut stage = Stage::new(plan);
    let mut steps = vec![step(&mut stage, json!({"create": true, "at": script.at}))];
    for thrown in &script.events {
        steps.push(match thrown {
            Thrown::Value(event, at) => step(&mut stage, json!({"event": event, "at": at})),
            Thrown::Text(text, at, _) => step(&mut stage, json!({"event_text": text, "at": at})),
        });
    }
    stage.check_laws("the script");
    json!({"admission": warnings, "steps": steps})
}

/// The run before the last event of a script, and that event.
///
/// # Panics
/// If the script is not of its form, its plan is refused or one of its events rejected.
#[must_use]
pub fn before_last_event(script: &Script) -> (Run, Event, Timestamp) {
    let time = |at: &Value| Timestamp::from_json(at).expect("a time");
    let mut events = script.events.iter().map(|thrown| match thrown {
        Thrown::Value(event, at) => (Event::from_value(event.clone()).expect("an event"), time(at)),
        Thrown::Text(text, at, _) => (Event::from_json(text).expect("an event"), time(at)),
    });
    let (last, at) = events.next_back().expect("an event");
    let plan = admission(&script.given).expect("a plan that is admitted");
    let (mut run, _) = Run::create(plan, time(&json!(script.at)));
    for (event, at) in events {
        run.apply(event, at).expect("an event that is taken");
    }
    (run, last, at)
}

fn step(stage: &mut Stage, step: Value) -> Value {
    let mut then = stage.carry_out(step.as_object().expect("a step"), "the script");
    then["snapshot_sha256"] = Value::from(sha256(&stage.snapshot()));
    then
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes it");
        hex
    })
}
