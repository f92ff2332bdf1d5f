//! What is worth measuring of a step: no word of a user or an agent, and only values that come from short lists, but
//! for ids and numbers (OBS-1 to OBS-5). Every host and every language counts and traces the same.

use serde::Serialize;

use crate::types::codes::Code;
use crate::types::decision::{Gate, Verdict};
use crate::types::event::{Origin, Usage};
use crate::types::interaction::ResolutionMode;
use crate::types::plan::Mode;
use crate::types::state::Status;
use crate::types::time::Timestamp;

/// One step of a run, or one event that it rejected, as meters, traces and logs may know it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
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
    /// Who brought it; absent if that is not known.
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
    pub decision: Option<DecisionSummary>,
    /// How a question came to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution_mode: Option<ResolutionMode>,
    /// Why the run ended, if it did now and without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The tokens of a turn, if its report has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why the event was rejected, or the request refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<&'static str>,
}

/// A decision without what the turn showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DecisionSummary {
    /// What the run becomes.
    pub outcome: Verdict,
    /// The rule that decided.
    pub rule: Gate,
    /// The failure's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The codes of its warnings.
    pub warnings: Vec<Code>,
}
