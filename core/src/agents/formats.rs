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
use crate::types::receipt::EventRejected;
use crate::types::stream::StreamFormat;
use crate::types::strict;

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
    const fn entry(self) -> (&'static str, &'static Format) {
        match self {
            StreamFormat::Text => ("text", &text::FORMAT),
            StreamFormat::Ndjson => ("ndjson", &ndjson::FORMAT),
            StreamFormat::CodexJsonl => ("codex-jsonl", &codex::FORMAT),
            StreamFormat::ClaudeStreamJson => ("claude-stream-json", &claude::FORMAT),
            StreamFormat::QwenStreamJson => ("qwen-stream-json", &qwen::FORMAT),
            StreamFormat::GeminiStreamJson => ("gemini-stream-json", &gemini::STREAM),
            StreamFormat::GeminiJson => ("gemini-json", &gemini::JSON),
            StreamFormat::OpencodeJson => ("opencode-json", &opencode::FORMAT),
            StreamFormat::PiJson => ("pi-json", &pi::FORMAT),
            StreamFormat::Acp => ("acp", &acp::FORMAT),
        }
    }

    /// The format's name on the wire.
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

    pub(super) const fn decoder(self) -> &'static Format {
        self.entry().1
    }
}

/// What an agent CLI writes, and how a process of it that serves several turns is written to.
pub(super) struct Format {
    pub(super) framing: Framing,
    /// Whether a row has nothing to read, which is seen without parsing it.
    pub(super) is_skipped: fn(&str) -> bool,
    /// Decodes a row. None if it is not known.
    pub(super) row: fn(&mut Turn, &Row<'_>) -> Option<()>,
    /// Decodes a row of a process that serves several turns, and may answer it.
    pub(super) sticky_row: Option<StickyRow>,
    /// Decodes all that was printed and stderr, where stdout is not divided into rows.
    pub(super) whole: fn(&mut Turn, &str, &str),
    /// Adds what is known only when nothing more comes, with stderr.
    pub(super) end_of_stream: fn(&mut Turn, &str),
    /// How a process that serves several turns says that one is over. None if there is no such process.
    pub(super) end_of_turn: Option<EndOfTurn>,
    /// What to write to such a process to give it a prompt or a reply.
    pub(super) prompt: fn(&str, &mut Sticky) -> String,
}

type StickyRow = fn(&mut Turn, &Row<'_>, &mut Sticky) -> Option<()>;

/// A format of rows that knows none, for a process of one turn.
const ROWS: Format = Format {
    framing: Framing::Rows,
    is_skipped: |_| false,
    row: |_, _| None,
    sticky_row: None,
    whole: |_, _, _| {},
    end_of_stream: |_, _| {},
    end_of_turn: None,
    prompt: |words, _| words.to_owned(),
};

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
