//! Reading a stream while it is written: rows are put together from chunks and handed to their format.

use super::formats::{EndOfTurn, Framing};
use super::row::Row;
use super::turn::Turn;
use super::{Decoded, Progress, Sticky};
use crate::json;
use crate::types::limits::Limits;
use crate::types::receipt::EventRejected;
use crate::types::stream::{Stream, StreamFormat};

/// The longest row that is read. Twice what a turn may say, since a row escapes it.
const MAX_ROW_BYTES: usize = 2 * Limits::DEFAULT.turn_text_bytes;

/// Reads a process's stream while it is written, and says what to write to the process.
#[derive(Clone, Debug, Default)]
pub struct StreamDecoder {
    format: StreamFormat,
    text_limit: usize,
    /// How the turns of a process that lives on are separated.
    sticky: Option<Sticky>,
    /// What came of a row that has not ended.
    begun: Vec<u8>,
    /// The rest of this row is thrown away.
    skipping: bool,
    /// What a sticky process printed behind the end of a turn.
    later: Vec<u8>,
    /// Where in it the next turn begins.
    later_from: usize,
    turn: Turn,
}

impl StreamDecoder {
    /// A decoder of a process that ends with its turn. It keeps the assistant's text up to `text_limit` bytes and what
    /// passes it, so that the gates see that it was too much: the plan's `turn_text_bytes`.
    pub fn new(format: StreamFormat, text_limit: usize) -> StreamDecoder {
        StreamDecoder { format, text_limit, turn: Turn::new(text_limit), ..StreamDecoder::default() }
    }

    /// A decoder of a process that lives on after a turn.
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` if the format cannot say when a turn is over.
    pub fn sticky(format: StreamFormat, text_limit: usize, sticky: Sticky) -> Result<StreamDecoder, EventRejected> {
        let is_line = |line: &str| !line.is_empty() && !line.contains(['\n', '\r']);
        let fits = match (format.decoder().end_of_turn, &sticky.end_of_turn) {
            (Some(EndOfTurn::Line), Some(line)) => is_line(line),
            (Some(EndOfTurn::Row), None) => true,
            _ => false,
        };
        if !fits {
            return Err(EventRejected::malformed(format!(
                "a process lives on after a turn with {}, which say themselves when a turn is over, and with {}, which \
                 need one line for `end_of_turn`",
                names_ending_by(EndOfTurn::Row),
                names_ending_by(EndOfTurn::Line),
            )));
        }
        Ok(StreamDecoder { sticky: Some(sticky), ..StreamDecoder::new(format, text_limit) })
    }

    /// What to write to the process to give it a prompt, or a reply. A process that ends with its turn is given the text
    /// as it is, and then the end of its input.
    pub fn prompt(&mut self, words: &str) -> String {
        let Some(sticky) = &mut self.sticky else { return words.to_owned() };
        (self.format.decoder().prompt)(words, sticky)
    }

    /// Takes the next bytes of stdout, cut anywhere, and says what they brought. When a turn is over, what a sticky
    /// process has printed behind its end is kept until [`StreamDecoder::finish`] was called; it is read with the next
    /// bytes, also with none.
    pub fn feed(&mut self, bytes: &[u8]) -> Progress {
        // Most have nothing to wait for, and are read where they are.
        if self.later.is_empty() {
            let rest = self.read(bytes);
            self.later.extend_from_slice(bytes.get(bytes.len() - rest..).unwrap_or_default());
        } else {
            self.later.extend_from_slice(bytes);
            self.read_later();
        }
        self.later.truncate(self.later_from + MAX_ROW_BYTES);
        Progress {
            pieces: self.turn.take_pieces(),
            turn_over: self.turn.is_over,
            stop: self.turn.is_not_utf8 || self.turn.is_too_large(),
            write: self.sticky.as_mut().map(|sticky| sticky.conversation.take_answers()).unwrap_or_default(),
        }
    }

    /// What the turn says, now that it is over. The decoder of a sticky process is then ready for the next turn.
    pub fn finish(&mut self, stderr: &str, exit_code: Option<i64>) -> Decoded {
        if self.sticky.is_none() || exit_code.is_some() {
            self.end_of_stream(stderr);
        }
        let mut turn = std::mem::replace(&mut self.turn, Turn::new(self.text_limit));
        // A host names a line only for a format without a row that ends a turn.
        let has_end_row = self.format.decoder().end_of_turn != Some(EndOfTurn::Line);
        turn.tell_exit(exit_code, stderr, has_end_row);
        turn.decoded()
    }

    fn feed_text(&mut self, bytes: &[u8]) {
        if self.turn.is_not_utf8 {
            return;
        }
        let mut begun = std::mem::take(&mut self.begun);
        begun.extend_from_slice(bytes);
        match std::str::from_utf8(&begun) {
            Ok(text) => self.turn.say_piece(text),
            Err(fault) => {
                // What stands before the fault was said, wherever the bytes were cut.
                let (good, rest) = begun.split_at(fault.valid_up_to());
                self.turn.say_piece(str::from_utf8(good).unwrap_or_default());
                // Without a length the fault is a character that is not all there yet.
                self.turn.is_not_utf8 = fault.error_len().is_some();
                if !self.turn.is_not_utf8 {
                    self.begun = rest.to_vec();
                }
            }
        }
    }

    /// Reads the bytes, or those of them that belong to this turn. Returns how many are left.
    fn read(&mut self, bytes: &[u8]) -> usize {
        match self.format.decoder().framing {
            Framing::Text if self.sticky.is_none() => self.feed_text(bytes),
            Framing::Whole => self.keep(bytes),
            Framing::Text | Framing::Rows => return self.feed_rows(bytes),
        }
        0
    }

    fn feed_rows(&mut self, mut bytes: &[u8]) -> usize {
        let is_sticky = self.sticky.is_some();
        while !(is_sticky && self.turn.is_over)
            && let Some((row, rest)) = memchr::memchr(b'\n', bytes).and_then(|end| bytes.split_at_checked(end))
        {
            self.end_row(row);
            bytes = rest.get(1..).unwrap_or_default();
        }
        if is_sticky && self.turn.is_over {
            return bytes.len();
        }
        self.keep(bytes);
        0
    }

    /// Reads what was kept. Many turns may have ended in it, so what is left for the next is not moved for each.
    fn read_later(&mut self) {
        let (mut later, mut from) = (std::mem::take(&mut self.later), self.later_from);
        from = later.len() - self.read(later.get(from..).unwrap_or_default());
        if from > later.len() / 2 {
            later.drain(..from);
            from = 0;
        }
        (self.later, self.later_from) = (later, from);
    }

    /// Keeps the beginning of a row, unless it grows too long.
    fn keep(&mut self, bytes: &[u8]) {
        if self.skipping || self.begun.len() + bytes.len() > MAX_ROW_BYTES {
            self.skipping = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
        // A line of text that is longer than a turn may be is not waited for.
        if self.format.decoder().framing == Framing::Text && self.begun.len() > self.text_limit {
            let line = std::mem::take(&mut self.begun);
            self.feed_text(&line);
        }
    }

    fn end_row(&mut self, end: &[u8]) {
        if self.begun.is_empty() && !self.skipping && end.len() <= MAX_ROW_BYTES {
            self.row(end);
            return;
        }
        self.keep(end);
        if std::mem::take(&mut self.skipping) {
            self.turn.rows_too_long += 1;
        } else {
            let row = std::mem::take(&mut self.begun);
            self.row(&row);
        }
    }

    fn row(&mut self, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.turn.is_not_utf8 = true;
            return;
        };
        self.turn.rows += 1;
        if let Some(end_of_turn) = self.sticky.as_ref().and_then(|sticky| sticky.end_of_turn.as_deref())
            && text.strip_suffix('\r').unwrap_or(text) == end_of_turn
        {
            self.turn.is_over = true;
            return;
        }
        let decoder = self.format.decoder();
        if decoder.framing == Framing::Text {
            self.turn.say_piece(text);
            self.turn.say_piece("\n");
            return;
        }
        if (decoder.is_skipped)(text) || json::trim(text).is_empty() {
            return;
        }
        let known = Row::parse(text).and_then(|row| match (&mut self.sticky, decoder.sticky_row) {
            (Some(sticky), Some(sticky_row)) => sticky_row(&mut self.turn, &row, sticky),
            _ => (decoder.row)(&mut self.turn, &row),
        });
        if known.is_none() {
            self.turn.unknown(text);
        }
    }

    /// Adds what is known only when nothing more comes.
    fn end_of_stream(&mut self, stderr: &str) {
        // What is too large was not read to its end, so that where it stops says nothing.
        if self.turn.is_too_large() {
            return;
        }
        let decoder = self.format.decoder();
        match decoder.framing {
            Framing::Text if self.sticky.is_none() => {
                self.turn.is_not_utf8 |= !std::mem::take(&mut self.begun).is_empty();
            }
            Framing::Whole if std::mem::take(&mut self.skipping) => self.turn.rows_too_long += 1,
            Framing::Whole => match String::from_utf8(std::mem::take(&mut self.begun)) {
                Ok(stdout) => (decoder.whole)(&mut self.turn, &stdout, stderr),
                Err(_) => self.turn.is_not_utf8 = true,
            },
            // What ended with a line feed has left nothing behind it that could be a row.
            _ if self.begun.is_empty() && !self.skipping => {}
            _ => self.end_row(b""),
        }
        (decoder.end_of_stream)(&mut self.turn, stderr);
    }
}

/// Decodes the whole of a turn's stream.
pub fn decode_stream(stream: &Stream) -> Decoded {
    // What is there already need not be cut; the gates see how large it is.
    let mut decoder = StreamDecoder::new(stream.format, usize::MAX);
    decoder.turn.is_watched = false;
    decoder.feed(stream.stdout.as_bytes());
    decoder.finish(stream.stderr.as_deref().unwrap_or_default(), stream.exit_code)
}

/// The names of the formats whose turns end so, if the process continues.
fn names_ending_by(end: EndOfTurn) -> String {
    let formats = StreamFormat::ALL.into_iter().filter(|format| format.decoder().end_of_turn == Some(end));
    formats.map(|format| format!("`{}`", format.as_str())).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests;
