//! What comes of an event.

use serde::{Deserialize, Serialize};

use crate::types::decision::Evaluation;
use crate::types::effect::Effect;
use crate::types::event::Event;
#[cfg(feature = "observe")]
use crate::types::observation::Observation;
use crate::types::receipt::Receipt;
use crate::types::time::Timestamp;

/// What came of an event that was not rejected.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Transition {
    /// What the host must do, in order. Save the run first.
    pub effects: Vec<Effect>,
    /// The answer to a request; with a `code` if it was refused.
    pub receipt: Option<Receipt>,
    /// What to append to the journal; absent if the event was ignored or refused, and nothing happened.
    pub entry: Option<JournalEntry>,
    /// What is worth measuring; absent if the event was ignored (OBS-1). Pass it on once the run is saved.
    #[cfg(feature = "observe")]
    pub observation: Option<Observation>,
}

/// One event that changed a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalEntry {
    /// The run's revision after it: 1, 2, 3 …
    pub revision: u64,
    /// The time the host gave.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
    /// What a turn was evaluated to: [`JournalEntry::compact`] records it in place of the turn's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Box<Evaluation>>,
}
