//! What is observed of a step, for metrics, traces and logs.

use crate::lifecycle::run::Run;
use crate::lifecycle::transition::Next;
use crate::types::codes::Code;
use crate::types::decision::Decision;
use crate::types::event::{Event, Origin};
use crate::types::observation::{DecisionSummary, Observation};
use crate::types::state::Outcome;
use crate::types::time::Timestamp;
use crate::types::transition::JournalEntry;

impl Run {
    /// What is observed of an event that this run has rejected. The name and the code may come from anywhere.
    pub fn observe_rejected(&self, event: &str, code: &str, now: Timestamp) -> Observation {
        let known = REQUESTS_AND_FACTS.into_iter().find(|(name, _)| *name == event);
        let (event, by) = known.map_or(("unknown", None), |(name, by)| (name, Some(by)));
        Observation { rejected: Some(bounded(code)), ..self.observation(event, by, now) }
    }

    pub(crate) fn observe_creation(&self, entry: &JournalEntry) -> Observation {
        self.observation(entry.event.public_name(), Some(entry.event.origin()), entry.at)
    }

    /// What is observed of a step that this run is about to make.
    pub(crate) fn observe_step(&self, next: &Next, entry: &JournalEntry) -> Observation {
        let plain = Observation { revision: entry.revision, ..self.observe_creation(entry) };
        // An ended run only gives back slots, and that is no news of it (LIFE-9).
        let Some(state) = next.state.as_ref().filter(|_| !self.status().is_end()) else { return plain };
        let is_left = state.status() != self.status();
        let since = self.pending().map_or(self.updated_at(), |pending| pending.asked_at);
        Observation {
            attempt_number: next.attempt_number,
            status: state.status(),
            left: is_left.then(|| self.status()),
            lasted_ms: is_left.then(|| plain.at.millis_since(since)),
            decision: entry.evaluation.as_ref().map(|evaluation| summary(&evaluation.decision)),
            resolution_mode: next.record.as_ref().map(|record| record.resolution_mode),
            code: state.outcome().and_then(Outcome::error).map(|error| bounded(&error.code)),
            usage: match &entry.event {
                Event::TurnFinished(report) => report.usage,
                _ => None,
            },
            ..plain
        }
    }

    fn observation(&self, event: &'static str, by: Option<Origin>, now: Timestamp) -> Observation {
        Observation {
            run_id: self.plan().run_id.clone(),
            engine: self.plan().engine.clone(),
            execution_mode: self.plan().execution_mode,
            revision: self.revision(),
            at: now.max(self.updated_at()),
            event,
            by,
            attempt_number: self.attempt_number(),
            status: self.status(),
            ..Observation::default()
        }
    }
}

fn summary(decision: &Decision) -> DecisionSummary {
    DecisionSummary {
        outcome: decision.outcome,
        rule: decision.rule,
        code: decision.code().map(bounded),
        warnings: decision.warnings().iter().map(|warning| warning.code).collect(),
    }
}

/// A code of the table, or the one word for all others: a host may report any reason, and a meter must not grow with it.
fn bounded(code: &str) -> &'static str {
    Code::from_text(code).map_or("OTHER", Code::as_str)
}

const REQUESTS_AND_FACTS: [(&str, Origin); 6] = [
    ("slot_granted", Origin::Host),
    ("turn_finished", Origin::Agent),
    ("reply", Origin::User),
    ("timer_fired", Origin::Timer),
    ("process_lost", Origin::Host),
    ("cancel", Origin::User),
];
