//! What a decoder gathers of one turn, within bounds.

use std::borrow::Cow;

use crate::text;
use crate::types::codes::{Code, Note};
use crate::types::event::Message;

use super::failure::{self, Failure};
use super::row::Shown;
use super::{Decoded, Piece, Usage};

/// One turn as far as it was read.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Turn {
    pub(super) rows: u64,
    pub(super) rows_too_long: usize,
    pub(super) is_not_utf8: bool,
    pub(super) is_over: bool,
    pub(super) failure: Option<Failure>,
    pub(super) usage: Option<Usage>,
    messages: Vec<Message>,
    /// Whether the last message takes another piece.
    is_open: bool,
    /// Messages before this one can no longer be taken back by the agent.
    settled: usize,
    superseded: usize,
    text_bytes: usize,
    text_limit: usize,
    other_messages: usize,
    /// Messages begun so far, those that were taken back included.
    begun: u64,
    /// Whether pieces are collected for observers.
    pub(super) is_watched: bool,
    pieces: Vec<Piece>,
    session_handle: Option<String>,
    notes: Vec<Note>,
    unknown_rows: usize,
}

impl Turn {
    pub(super) fn new(text_limit: usize) -> Turn {
        Turn { text_limit, is_watched: true, ..Turn::default() }
    }

    /// A whole message of the assistant's.
    pub(super) fn say(&mut self, words: &str) {
        self.close();
        self.say_piece(words);
        self.close();
    }

    /// A piece of a message of the assistant's; it is joined to the piece before it.
    pub(super) fn say_piece(&mut self, words: &str) {
        if words.is_empty() || self.is_too_large() {
            return;
        }
        self.text_bytes = self.text_bytes.saturating_add(words.len());
        self.piece(ASSISTANT, words);
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.text_bytes > self.text_limit
    }

    /// A message that is not the assistant's: its beginning is kept for observers. The words are made only if they are kept.
    pub(super) fn other<'w>(&mut self, role: &str, words: impl FnOnce() -> Cow<'w, str>) {
        if self.other_messages < MAX_OTHER_MESSAGES {
            let words = words();
            let kept = text::head(&words, MAX_OTHER_BYTES);
            if !kept.is_empty() {
                self.other_messages += 1;
                self.begin(text::head(role, MAX_ROLE_BYTES), kept.to_owned());
            }
        }
        self.close();
    }

    /// What a tool is called with.
    pub(super) fn tool_call(&mut self, name: &Shown<'_>, input: &Shown<'_>) {
        self.other("tool", || format!("{} {}", name.as_str(), input.as_str()).into());
    }

    /// A piece of a message that is not the assistant's; it is joined to the piece before it.
    pub(super) fn other_piece(&mut self, role: &str, words: &str) {
        let role = text::head(role, MAX_ROLE_BYTES);
        let kept = match self.messages.last().filter(|last| self.is_open && last.role == role) {
            Some(last) => last.text.len(),
            None if self.other_messages < MAX_OTHER_MESSAGES => 0,
            // Nothing more is kept, but what comes next is a message of its own.
            None => return self.close(),
        };
        let words = text::head(words, MAX_OTHER_BYTES.saturating_sub(kept));
        if !words.is_empty() {
            self.other_messages += usize::from(kept == 0);
            self.piece(role, words);
        }
    }

    fn piece(&mut self, role: &str, words: &str) {
        let joins = self.is_open || (role == ASSISTANT && self.messages.len() >= MAX_MESSAGES);
        if let Some(last) = self.messages.last_mut().filter(|last| joins && last.role == role) {
            if !self.is_open {
                last.text.push_str("\n\n");
            }
            last.text.push_str(words);
            self.show(role, words);
        } else {
            self.begin(role, words.to_owned());
        }
        self.is_open = true;
    }

    /// A message of its own.
    fn begin(&mut self, role: &str, text: String) {
        self.begun += 1;
        self.show(role, &text);
        self.messages.push(Message { role: role.to_owned(), text });
    }

    /// Hands observers a piece of the last message.
    fn show(&mut self, role: &str, words: &str) {
        if self.is_watched {
            let message = self.begun.saturating_sub(1);
            self.pieces.push(Piece { message, role: role.to_owned(), text: words.to_owned() });
        }
    }

    /// The next piece begins a message of its own.
    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    pub(super) fn take_pieces(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    /// What was said so far stays.
    pub(super) fn settle(&mut self) {
        self.close();
        self.settled = self.messages.len();
    }

    /// The agent asks its model again: the words it had from it are no longer its own (MARK-4).
    pub(super) fn supersede(&mut self) {
        self.close();
        let taken_back = self.messages.split_off(self.settled.min(self.messages.len()));
        let before = taken_back.len();
        self.messages.extend(taken_back.into_iter().filter(|message| message.role != ASSISTANT));
        self.superseded += self.settled + before - self.messages.len();
        // What is left is not the assistant's and is not looked at again.
        self.settled = self.messages.len();
    }

    pub(super) fn last_words(&self) -> Option<&str> {
        self.messages.iter().rev().find(|message| message.role == ASSISTANT).map(|message| message.text.as_str())
    }

    /// The session that a row names. The first is the turn's own: others are those of agents that it started.
    pub(super) fn session(&mut self, handle: Option<&str>) -> bool {
        let Some(handle) = handle else { return true };
        if let Some(own) = &self.session_handle {
            return own == handle;
        }
        // It goes into a command line, so it must not look like an option there.
        if is_handle(handle) {
            self.session_handle = Some(handle.to_owned());
        } else if !self.notes.iter().any(|note| note.code == Code::SessionHandleIgnored) {
            self.note(Code::SessionHandleIgnored, format!("the session {} cannot be resumed", text::quoted(handle)));
        }
        true
    }

    /// Whether words of this session are the turn's own, as far as a row has named it.
    pub(super) fn owns(&self, session: Option<&str>) -> bool {
        is_session(self.session_handle.as_deref(), session)
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
    }

    /// Adds what a request to the model cost, if the program reports at least its input.
    pub(super) fn spend(&mut self, input: Option<u64>, output: Option<u64>, cached: Option<u64>) {
        let Some(input) = input else { return };
        let before = self.usage.unwrap_or_default();
        let cached_input_tokens = match before.cached_input_tokens {
            Some(before) => Some(before.saturating_add(cached.unwrap_or(0))),
            None => cached,
        };
        self.usage = Some(Usage {
            input_tokens: before.input_tokens.saturating_add(input),
            output_tokens: before.output_tokens.saturating_add(output.unwrap_or(0)),
            cached_input_tokens,
        });
    }

    /// A row that the format does not have, as far as is known here.
    pub(super) fn unknown(&mut self, row: &str) {
        self.unknown_rows += 1;
        if self.unknown_rows <= MAX_SHOWN_ROWS {
            let number = self.rows;
            self.note(Code::StreamRowUnknown, format!("row {number} was not understood: {}", text::quoted(row)));
        }
    }

    /// What the agent's program says of itself.
    pub(super) fn warn(&mut self, words: &str) {
        if self.notes.len() < MAX_NOTES {
            self.note_said("the agent's program says", words);
        }
    }

    fn note_said(&mut self, what: &str, words: &str) {
        self.note(Code::AgentSaid, format!("{what} {}", text::quoted_up_to(words, MAX_SAID_BYTES)));
    }

    fn note_count(&mut self, code: Code, what: &str, count: usize) {
        if count > 0 {
            self.note(code, format!("{what}: {count}"));
        }
    }

    pub(super) fn note(&mut self, code: Code, message: String) {
        self.notes.push(Note::new(code, message));
    }

    /// What the end of the process adds.
    pub(super) fn tell_exit(&mut self, exit_code: Option<i64>, stderr: &str, has_end_row: bool) {
        let Some(exit_code) = exit_code else { return };
        if has_end_row && !self.is_over {
            self.note(Code::StreamEndedEarly, "the stream ends without the row that ends a turn".to_owned());
            // A program that ends well in the middle of its turn was stopped as well.
            if exit_code == 0 || failure::is_stop(exit_code) {
                self.fail(Failure { code: Code::Interrupted, words: String::new() });
            }
        }
        let last_line = stderr.lines().rev().find(|line| !line.trim().is_empty());
        if let Some(line) = last_line.filter(|_| exit_code != 0 && self.failure.is_none()) {
            self.note_said("the last line of stderr is", line.trim());
        }
    }

    pub(super) fn decoded(mut self) -> Decoded {
        if self.is_not_utf8 {
            self.failure = Some(Failure { code: Code::OutputNotUtf8, words: String::new() });
        }
        if let Some(Failure { words, .. }) = self.failure.as_ref().filter(|failure| !failure.words.is_empty()) {
            let words = text::quoted_up_to(words, MAX_SAID_BYTES);
            // Some programs warn of a failure with the very words they then fail with.
            self.notes.retain(|note| note.code != Code::AgentSaid || !note.message.ends_with(&words));
            self.note(Code::AgentSaid, format!("the turn failed with {words}"));
        }
        let unknown = self.unknown_rows.saturating_sub(MAX_SHOWN_ROWS);
        let superseded = "messages that the agent's program discarded when it asked its model again";
        self.note_count(Code::StreamRowUnknown, "further rows that were not understood", unknown);
        self.note_count(Code::StreamRowTooLong, "rows that were too long to be read", self.rows_too_long);
        self.note_count(Code::StreamMessageSuperseded, superseded, self.superseded);
        Decoded {
            messages: self.messages,
            session_handle: self.session_handle,
            failure_reason: self.failure.map(|failure| failure.code.as_str().to_owned()),
            usage: self.usage,
            diagnostics: self.notes,
        }
    }
}

/// Whether a row's session is this one, as far as both are named.
pub(super) fn is_session(own: Option<&str>, named: Option<&str>) -> bool {
    own.is_none_or(|own| named.is_none_or(|named| named == own))
}

fn is_handle(handle: &str) -> bool {
    let mut bytes = handle.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphanumeric())
        && handle.len() <= MAX_HANDLE_BYTES
        && bytes.all(|byte| byte.is_ascii_graphic())
}

pub(super) const ASSISTANT: &str = "assistant";
/// How much is kept of what a tool, a user or a thought said.
pub(super) const MAX_OTHER_BYTES: usize = 2000;
const MAX_ROLE_BYTES: usize = 64;
const MAX_OTHER_MESSAGES: usize = 1000;
/// Further messages of the assistant's are joined to the last.
const MAX_MESSAGES: usize = 10_000;
const MAX_SHOWN_ROWS: usize = 5;
const MAX_NOTES: usize = 20;
/// Of what the agent's program says of itself.
const MAX_SAID_BYTES: usize = 400;
const MAX_HANDLE_BYTES: usize = 4096;

#[cfg(test)]
mod tests;
