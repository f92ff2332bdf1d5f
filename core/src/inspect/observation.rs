//! What is worth measuring of a step: no word of a user or an agent, and only values that come from short lists, but
//! for ids and numbers (OBS-1 to OBS-5). Every host and every language counts and traces the same.

use std::borrow::Cow;

use serde::Serialize;

use crate::inspect::timeline::{Origin, told};
use crate::lifecycle::run::Run;
use crate::lifecycle::transition::Next;
use crate::persist::journal::JournalEntry;
use crate::turn::gate::{Brief, Verdict};
use crate::types::codes::Code;
use crate::types::event::{Event, Usage};
use crate::types::interaction::ResolutionMode;
use crate::types::plan::Mode;
use crate::types::state::{Ended, Outcome, State, Status};
use crate::types::time::Timestamp;

/// One step of a run, or one event that it rejected, as meters, traces and logs may know it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Observation {
    /// The run's id.
    pub run_id: String,
    /// Its revision after the step; a rejected event changes none.
    pub revision: u64,
    /// The time that the run counts: that of the host, but never behind the latest it has seen (LIFE-4).
    pub at: Timestamp,
    /// The name of what happened; `unknown` for a rejected event of another name.
    pub event: &'static str,
    /// Who brought it; absent if nobody can know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Origin>,
    /// The agent CLI that the run is for.
    pub engine: String,
    /// Whether the run may wait for a person.
    pub execution_mode: Mode,
    /// The number of the last turn that had started.
    pub attempt_number: u32,
    /// Where the run was after it.
    pub status: Status,
    /// Where the run had been, if it is somewhere else now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Status>,
    /// For how long it had been there, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lasted_ms: Option<u64>,
    /// What the gates made of a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Ruled>,
    /// How a question came to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution_mode: Option<ResolutionMode>,
    /// Why the run ended, if it did now and without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The tokens of a turn, if its report told them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why the event was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<&'static str>,
}

/// A decision without what the turn showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ruled {
    /// What the run becomes.
    pub outcome: Verdict,
    /// The rule that decided.
    pub rule: Cow<'static, str>,
    /// The failure's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The codes of what a person should look at.
    pub warnings: Vec<Code>,
}

impl Run {
    /// What is observed of an event that this run has rejected. The name and the code may come from anywhere.
    #[must_use]
    pub fn observe_rejected(&self, event: &str, code: &str, now: Timestamp) -> Observation {
        let known = REQUESTS_AND_FACTS.into_iter().find(|(name, _)| *name == event);
        let (event, by) = known.map_or(("unknown", None), |(name, by)| (name, Some(by)));
        Observation { rejected: Some(bounded(code)), ..self.observation(event, by, now) }
    }

    pub(crate) fn observe_creation(&self, entry: &JournalEntry) -> Observation {
        let (event, by) = told(&entry.event);
        self.observation(event, Some(by), entry.at)
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
            decision: entry.judgement().map(|judged| Ruled::of(&judged.decision)),
            resolution_mode: next.record.as_ref().map(|record| record.resolution_mode),
            code: match state {
                State::Ended(Ended { how: Outcome::Failed(error) | Outcome::Canceled(error) }) => {
                    Some(bounded(&error.code))
                }
                State::Queued(_) | State::Running(_) | State::WaitingUser(_) | State::Ended(_) => None,
            },
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
            left: None,
            lasted_ms: None,
            decision: None,
            resolution_mode: None,
            code: None,
            usage: None,
            rejected: None,
        }
    }
}

impl Ruled {
    fn of(decision: &Brief) -> Ruled {
        Ruled {
            outcome: decision.outcome(),
            rule: decision.rule(),
            code: decision.code().map(|code| bounded(code)),
            warnings: decision.warnings().iter().map(|warning| warning.code).collect(),
        }
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
