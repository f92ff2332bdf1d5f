//! Plain text: all of it is the assistant's.

use super::{EndOfTurn, Format, Framing};
use crate::agents::Sticky;

pub(crate) struct Text;

impl Format for Text {
    fn framing(&self) -> Framing {
        Framing::Text
    }

    fn end_of_turn(&self) -> Option<EndOfTurn> {
        Some(EndOfTurn::Line)
    }

    /// One line.
    fn prompt(&self, words: &str, _: &mut Sticky) -> String {
        words.replace("\r\n", " ").replace(ends_line, " ") + "\n"
    }
}

/// Whether some program would take the character for the end of a line.
fn ends_line(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
