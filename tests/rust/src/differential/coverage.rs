//! What scripts came to: a comparison is worth something only if they get everywhere.

use std::collections::BTreeMap;

use serde_json::Value;
use turnlatch::types::{CodeKind, Outcome};
use turnlatch::{Code, Run, Status};

use crate::transcript::Thrown;

/// How often each thing happened, by its name.
#[derive(Debug, Default)]
pub struct Coverage {
    /// How many events there were.
    pub events: usize,
    seen: BTreeMap<String, usize>,
}

impl Coverage {
    pub(super) fn note_admission(&mut self, line: &str) {
        let told: Value = serde_json::from_str(line).expect("an admission");
        self.note("refused", &told["refused"]["code"]);
    }

    pub(super) fn note_step(&mut self, thrown: &Thrown, then: &Value) {
        match thrown {
            Thrown::Reload { reload } => self.count(format!("reload {reload}")),
            Thrown::Value(..) | Thrown::Text(..) => {
                self.events += 1;
                self.note("status", &then["status"]);
                self.note("receipt", &then["receipt"]["kind"]);
                self.note("rejected", &then["receipt"]["code"]);
                self.note("rejected", &then["rejected"]["code"]);
            }
        }
    }

    pub(super) fn note_end(&mut self, run: Option<&Run>) {
        if let Some(Outcome::Failed(error)) = run.and_then(Run::outcome) {
            self.count(format!("failed {}", error.code));
        }
    }

    fn note(&mut self, what: &str, name: &Value) {
        if let Some(name) = name.as_str() {
            self.count(format!("{what} {name}"));
        }
    }

    fn count(&mut self, name: String) {
        *self.seen.entry(name).or_default() += 1;
    }

    /// Adds what others have seen.
    pub fn add(&mut self, other: Coverage) {
        self.events += other.events;
        for (name, times) in other.seen {
            *self.seen.entry(name).or_default() += times;
        }
    }

    /// What never happened, of all that should.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let statuses = Status::ALL.iter().map(|status| format!("status {}", status.as_str()));
        let rejections = Code::ALL.iter().map(|code| code.info()).filter(|info| info.kind == CodeKind::Rejection);
        // Only a build without the schema engine can miss a validator.
        let rejections = rejections.filter(|info| info.code != "VALIDATOR_MISSING");
        let rejections = rejections.map(|info| format!("rejected {}", info.code));
        let others = OTHERS.map(str::to_owned);
        statuses.chain(rejections).chain(others).filter(|name| !self.seen.contains_key(name)).collect()
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.seen.iter().map(|(name, times)| format!("{name} {times}")).collect();
        write!(formatter, "{}", names.join(", "))
    }
}

const OTHERS: [&str; 19] = [
    "reload snapshot",
    "reload journal",
    "reload compact_journal",
    "reload record",
    "receipt accepted",
    "receipt duplicate",
    "receipt canceled",
    "refused REQUEST_MALFORMED",
    "refused RUN_ID_INVALID",
    "refused EXECUTION_MODE_INVALID",
    "refused SKILL_MANIFEST_INVALID",
    "refused SCHEMA_REF_FORBIDDEN",
    "refused SCHEMA_PATTERN_UNSUPPORTED",
    "refused SKILL_ENGINE_UNSUPPORTED",
    "refused OPTION_INVALID",
    "failed OUTPUT_MISSING",
    "failed OUTPUT_SCHEMA_INVALID",
    "failed INTERACTIVE_MAX_ATTEMPT_EXCEEDED",
    "failed TIMEOUT",
];
