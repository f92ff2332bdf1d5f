//! What a list of events comes to, step by step: for bindings that compare themselves with the core.

use std::fmt::Write;

use crate::vector::{Stage, admission};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use turnlatch::Run;

/// A plan and what happens to its run. The format is described in `tests/README.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Thrown {
    /// An event as a value.
    Value(Value, Value),
    /// An event as text, which need not be JSON; the last member is the word `text`.
    Text(String, Value, TextMark),
    /// No event: the run is read back, as by the step of a vector, and goes on.
    Reload {
        /// From what it is read.
        reload: String,
    },
}

/// The word that tells an event's text from an event that is a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextMark {
    /// The event is given as text.
    Text,
}

/// A run on its way, and all it has told: what admission said, and for every step the answer and the snapshot behind it.
pub struct Telling {
    /// Nothing comes of a plan that is refused.
    stage: Option<Stage>,
    lines: Vec<String>,
}

impl Telling {
    /// Creates the run, or has its plan refused.
    ///
    /// # Panics
    /// If what is given is not of its form.
    #[must_use]
    pub fn begin(given: &Map<String, Value>, at: u64) -> Telling {
        let plan = match admission(given) {
            Ok(plan) => plan,
            Err(refusal) => return Telling { stage: None, lines: vec![json!({ "refused": refusal }).to_string()] },
        };
        let lines = vec![json!({"warnings": plan.warnings}).to_string()];
        let mut telling = Telling { stage: Some(Stage::new(plan)), lines };
        telling.carry_out(json!({"create": true, "at": at}));
        telling
    }

    /// The run, unless its plan was refused.
    #[must_use]
    pub fn run(&self) -> Option<&Run> {
        self.stage.as_ref().map(Stage::run)
    }

    /// Lets something happen to the run, and gives the answer.
    ///
    /// # Panics
    /// If a law does not hold that every step keeps.
    pub fn tell(&mut self, thrown: &Thrown) -> Value {
        self.carry_out(match thrown {
            Thrown::Value(event, at) => json!({"event": event, "at": at}),
            Thrown::Text(text, at, _) => json!({"event_text": text, "at": at}),
            Thrown::Reload { reload } => json!({ "reload": reload }),
        })
    }

    /// Everything that was told.
    #[must_use]
    pub fn end(self) -> Vec<String> {
        self.lines
    }

    fn carry_out(&mut self, step: Value) -> Value {
        let (Some(stage), Value::Object(step)) = (&mut self.stage, step) else { return Value::Null };
        let then = stage.carry_out(&step, "the script");
        self.lines.push(format!("{}\n{}", bounded(then.clone()), stage.run().snapshot()));
        then
    }
}

/// An answer without integers beyond 2^53, which not every language has in its data.
fn bounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() == 0.0 && it.abs() >= TWO_TO_53) => {
            "beyond 2^53".into()
        }
        Value::Array(items) => items.into_iter().map(bounded).collect(),
        Value::Object(members) => members.into_iter().map(|(key, member)| (key, bounded(member))).collect(),
        other => other,
    }
}

const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

/// Carries out a script.
///
/// # Panics
/// If the script is not of its form, or a law does not hold that every run keeps.
#[must_use]
pub fn transcript(script: &Script) -> Vec<String> {
    let mut telling = Telling::begin(&script.given, script.at);
    for thrown in &script.events {
        telling.tell(thrown);
    }
    if let Some(stage) = &telling.stage {
        stage.check_laws("the script");
    }
    telling.end()
}

/// The SHA-256 of a transcript: the same only if every answer and every snapshot is the same.
#[must_use]
pub fn digest(transcript: &[String]) -> String {
    Sha256::digest(transcript.join("\n")).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes it");
        hex
    })
}
