//! Decoders: what an agent's command line printed, as the messages, the session and the failure of its turn (STREAM-1 to
//! STREAM-9).
//!
//! Rows are decoded as they come, however they are cut, and what a decoder keeps is bounded whatever it is fed. Each format
//! has a file of its own that says what its rows mean; `decoder` finds the rows.

mod content;
mod decoder;
mod failure;
#[expect(clippy::struct_field_names, reason = "fields have the names that the vendors gave them")]
mod formats;
mod row;
mod turn;

use serde::Serialize;

use crate::types::codes::Note;
use crate::types::event::{Event, Message, TurnReport, Usage};
use crate::types::receipt::EventRejected;

pub use decoder::{StreamDecoder, decode_stream};

/// What a turn's stream says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Decoded {
    /// The words of the assistant, and beginnings of what tools, users and thoughts said between them.
    pub messages: Vec<Message>,
    /// By which the agent's session can be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_handle: Option<String>,
    /// Why the turn failed, as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// What the turn cost, as far as the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What was strange on the way.
    pub diagnostics: Vec<Note>,
}

/// How a process takes its turns that lives on after one.
#[derive(Clone, Debug, Default)]
pub struct Sticky {
    /// The line by which it says that a turn is over, if its format does not say it.
    pub end_of_turn: Option<String>,
    /// The folder it works in, for formats that send it.
    pub work_folder: String,
    conversation: formats::acp::Conversation,
}

impl Sticky {
    /// A process of a format that has an end of a turn, or says it with this line.
    pub fn new(end_of_turn: Option<String>, work_folder: String) -> Sticky {
        Sticky { end_of_turn, work_folder, conversation: formats::acp::Conversation::default() }
    }
}

/// What came of some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// What was said, in order, for people who look on.
    pub pieces: Vec<Piece>,
    /// Whether the stream says that the turn is over; a process that stays alive does not say it by ending.
    pub turn_over: bool,
    /// Nothing more is read, because there is too much of it or it is not UTF-8: the process can be ended.
    pub stop: bool,
    /// What the agent asks for on the way and is to be given, in order: texts for its stdin.
    pub write: Vec<String>,
}

/// A piece of a message, as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Piece {
    /// Which message of the turn it belongs to, counted from 0; pieces of one message are joined.
    pub message: u64,
    /// Whose words these are.
    pub role: String,
    /// The words.
    pub text: String,
}

impl Event {
    /// The event with what the agent's program printed decoded: what is recorded is what it said, so that a replay does not
    /// depend on a decoder.
    pub(crate) fn with_stream_decoded(mut self) -> Result<Event, EventRejected> {
        if let Event::TurnFinished(report) = &mut self
            && report.decode_stream()
        {
            self.check_form()?;
        }
        Ok(self)
    }
}

impl TurnReport {
    /// Puts what the stream says in its place; false if there is none.
    pub(crate) fn decode_stream(&mut self) -> bool {
        let Some(stream) = self.stream.take() else { return false };
        self.exit_code = stream.exit_code;
        self.take_decoded(decode_stream(&stream));
        true
    }

    /// What the turn's stream says, as its report. What the host says itself counts more: a turn that it ended for its
    /// time has timed out, whatever the agent made of it.
    pub fn take_decoded(&mut self, decoded: Decoded) {
        self.messages = Some(decoded.messages);
        self.session_handle = self.session_handle.take().or(decoded.session_handle);
        self.failure_reason = self.failure_reason.take().or(decoded.failure_reason);
        self.usage = self.usage.or(decoded.usage);
        self.diagnostics.extend(decoded.diagnostics);
    }
}
