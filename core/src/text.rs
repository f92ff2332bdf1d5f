//! Hostile text made safe to show, and cut without breaking a character.

use std::borrow::Cow;

/// The text with terminal escapes, control and bidi characters made visible, for logs, terminals and messages.
///
/// Line breaks and tabs stay; everything else that does not print is written as `\u{1b}`.
pub fn display_text(text: &str) -> Cow<'_, str> {
    // Nearly every text is made of plain characters, and that is seen many bytes at a time.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    if is_plain || !text.contains(is_disguise) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_disguise(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// The longest beginning of `text` with at most `bytes` bytes.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}

/// The longest end of `text` with at most `bytes` bytes.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(start..).unwrap_or_default()
}

/// A value from outside as it may stand in a message: quoted, on one line, short.
pub(crate) fn quoted(text: &str) -> String {
    quoted_up_to(text, MESSAGE_VALUE_BYTES)
}

/// The same, with more of it where it is what the message is about.
pub(crate) fn quoted_up_to(text: &str, bytes: usize) -> String {
    let short = head(text, bytes);
    let ellipsis = if short.len() < text.len() { "…" } else { "" };
    let line = short.replace(['\n', '\t'], " ");
    format!("`{}{ellipsis}`", display_text(&line).replace('`', "'"))
}

/// Names from outside, quoted, with commas between them.
pub(crate) fn quoted_list(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| quoted(name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// A name from outside as a step of a JSON pointer in a message.
pub(crate) fn pointer_step(name: &str) -> String {
    display_text(head(name, 200)).replace('~', "~0").replace('/', "~1")
}

/// Characters that move the cursor, hide text or reorder it.
fn is_disguise(character: char) -> bool {
    let invisible = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    invisible || (character.is_control() && !matches!(character, '\n' | '\t'))
}

const MESSAGE_VALUE_BYTES: usize = 80;

#[cfg(test)]
mod tests;
