//! Answers: the receipt of a reply or cancel, and the rejection of a malformed event.

use serde::Serialize;

use crate::types::codes::Code;
use crate::types::interaction::{InteractionRecord, ResolutionMode};
use crate::types::state::Status;
use crate::types::time::Timestamp;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// What became of it, in a word.
    pub kind: ReceiptKind,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The question the reply named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interaction_id: Option<u64>,
    /// The question that is pending instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_interaction_id: Option<u64>,
    /// How the question had been resolved before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Resolved>,
    /// The run's status; after the step, if there was one.
    pub status: Status,
    /// The run's revision; after the step, if there was one.
    pub revision: u64,
}

/// A receipt in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReceiptKind {
    /// The reply was taken and the run goes on.
    Accepted,
    /// It had been taken before; this is the first receipt again.
    Duplicate,
    /// The key stands for another reply, or the run has moved on.
    Conflict,
    /// The question was resolved before.
    Stale,
    /// Nothing is pending.
    NotWaiting,
    /// There never was such a question.
    Unknown,
    /// An auto run has no questions.
    NotInteractive,
    /// The reply is larger than the limit.
    TooLarge,
    /// The run was canceled.
    Canceled,
    /// There was nothing left to cancel.
    AlreadyEnded,
}

/// How, when and by whom a question was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Resolved {
    /// How.
    pub resolution_mode: ResolutionMode,
    /// When.
    pub resolved_at: Timestamp,
    /// By whom: `user`, `auto_decision`, `deadline` or `end_of_run`.
    pub resolved_by: &'static str,
}

impl From<&InteractionRecord> for Resolved {
    fn from(record: &InteractionRecord) -> Resolved {
        Resolved {
            resolution_mode: record.resolution_mode,
            resolved_at: record.resolved_at,
            resolved_by: record.resolution_mode.resolved_by(),
        }
    }
}

impl Receipt {
    /// The HTTP status of a response that carries this receipt.
    pub fn http_status(&self) -> u16 {
        self.code.map_or(200, Code::http)
    }
}

/// An event that was not applied; the run is unchanged. A reply or cancel that is refused is none: it has a [`Receipt`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct EventRejected {
    /// Why, as a stable code.
    pub code: Code,
    /// What was found and what was expected.
    pub message: String,
    /// The member that is wrong, as a JSON pointer, or `now`; `None` if the event is wrong as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl EventRejected {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> EventRejected {
        EventRejected { code, message: message.into(), path: None }
    }

    pub(crate) fn malformed(message: impl Into<String>) -> EventRejected {
        EventRejected::new(Code::EventMalformed, message)
    }

    /// The same, of one member.
    pub(crate) fn at(self, path: &str) -> EventRejected {
        EventRejected { path: (!path.is_empty()).then(|| path.to_owned()), ..self }
    }

    /// The stable code.
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }
}
