//! The formats that agent CLIs write, a file for each CLI, and the table of all of them.

pub(super) mod acp;
mod claude;
mod codex;
mod gemini;
mod ndjson;
mod opencode;
mod pi;
mod qwen;
mod text;

use super::Sticky;
use super::row::Row;
use super::turn::Turn;
use crate::json::Value;
use crate::json::strict;
use crate::types::receipt::EventRejected;
use crate::types::stream::StreamFormat;

impl StreamFormat {
    /// Every format.
    pub const ALL: [StreamFormat; 10] = [
        StreamFormat::Text,
        StreamFormat::Ndjson,
        StreamFormat::CodexJsonl,
        StreamFormat::ClaudeStreamJson,
        StreamFormat::QwenStreamJson,
        StreamFormat::GeminiStreamJson,
        StreamFormat::GeminiJson,
        StreamFormat::OpencodeJson,
        StreamFormat::PiJson,
        StreamFormat::Acp,
    ];

    /// The table: the name on the wire, and what decodes it.
    const fn entry(self) -> (&'static str, &'static dyn Format) {
        match self {
            StreamFormat::Text => ("text", &text::Text),
            StreamFormat::Ndjson => ("ndjson", &ndjson::Ndjson),
            StreamFormat::CodexJsonl => ("codex-jsonl", &codex::Codex),
            StreamFormat::ClaudeStreamJson => ("claude-stream-json", &claude::Claude),
            StreamFormat::QwenStreamJson => ("qwen-stream-json", &qwen::Qwen),
            StreamFormat::GeminiStreamJson => ("gemini-stream-json", &gemini::GeminiStream),
            StreamFormat::GeminiJson => ("gemini-json", &gemini::GeminiJson),
            StreamFormat::OpencodeJson => ("opencode-json", &opencode::Opencode),
            StreamFormat::PiJson => ("pi-json", &pi::Pi),
            StreamFormat::Acp => ("acp", &acp::Acp),
        }
    }

    /// The format's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.entry().0
    }

    /// The format with this name.
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` if there is none.
    pub fn from_name(name: &str) -> Result<StreamFormat, EventRejected> {
        strict::from_value(Value::String(name.to_owned()))
            .map_err(|invalid| EventRejected::malformed(invalid.sentence("the stream's format")))
    }

    pub(super) const fn decoder(self) -> &'static dyn Format {
        self.entry().1
    }
}

/// What an agent CLI writes, and how a process of it that serves several turns is written to.
pub(super) trait Format: Sync {
    fn framing(&self) -> Framing {
        Framing::Rows
    }

    /// Whether a row has nothing to read, which is seen without parsing it.
    fn is_skipped(&self, _text: &str) -> bool {
        false
    }

    /// Decodes a row. None if it is not known.
    fn row(&self, _turn: &mut Turn, _row: &Row<'_>) -> Option<()> {
        None
    }

    /// Decodes a row of a process that serves several turns, and may answer it.
    fn sticky_row(&self, turn: &mut Turn, row: &Row<'_>, _: &mut Sticky) -> Option<()> {
        self.row(turn, row)
    }

    /// Decodes all that was printed, where it is not divided into rows.
    fn whole(&self, _turn: &mut Turn, _stdout: &str, _stderr: &str) {}

    /// Adds what is known only when nothing more comes.
    fn end_of_stream(&self, _turn: &mut Turn, _stderr: &str) {}

    /// Whether a turn that came to its end has said so in a row.
    fn has_end_row(&self) -> bool {
        self.end_of_turn() != Some(EndOfTurn::Line)
    }

    /// How a process that serves several turns says that one is over. None if there is no such process.
    fn end_of_turn(&self) -> Option<EndOfTurn> {
        None
    }

    /// What to write to such a process to give it a prompt or a reply.
    fn prompt(&self, words: &str, _: &mut Sticky) -> String {
        words.to_owned()
    }
}

/// How stdout is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Not at all: it is text. That of several turns is divided into lines.
    Text,
    /// One JSON object a line.
    Rows,
    /// One document, which is complete when the process has ended.
    Whole,
}

/// How the end of a turn is found if the process continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndOfTurn {
    /// A row of the format says so.
    Row,
    /// The host names a line.
    Line,
}

#[cfg(test)]
mod tests;
