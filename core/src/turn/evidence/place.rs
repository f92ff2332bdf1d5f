//! Where an object stands in prose: alone on its lines, last in its message, quoted.

use std::ops::Range;

/// Whether an object is alone on its lines, or the last thing in its message, and not quoted.
///
/// Looks no further than the white space around the object, so that many objects on one line cost no more.
pub(super) fn stands_alone(prose: &str, span: Range<usize>, ends_message: bool) -> bool {
    let before = prose.get(..span.start).unwrap_or_default();
    let after = prose.get(span.end..).unwrap_or_default().trim_start_matches([' ', '\t', '\r']);
    if !(after.is_empty() || after.starts_with('\n')) {
        return false;
    }
    if let Some(indent) = indent_at_end(before) {
        return is_plain_indent(indent);
    }
    let is_last = ends_message && after.trim_start().is_empty();
    is_last && !before.rsplit('\n').next().unwrap_or_default().trim_start().starts_with('>')
}

/// Whether an object behind this text begins a line, and is not quoted there.
pub(super) fn is_unquoted(before: &str) -> bool {
    indent_at_end(before).is_some_and(is_plain_indent) && !is_quoting(before)
}

/// At most one word, as it is left of a value or an escape that was cut off, and white space around it. Looks no further.
pub(super) fn is_last_word(rest: &str) -> bool {
    let word = rest.as_bytes().trim_ascii_start();
    let is_sign = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'\\';
    let behind = word.get(word.iter().take_while(is_sign).count()..).unwrap_or_default();
    behind.iter().all(u8::is_ascii_whitespace)
}

/// Four spaces or a tab make an indented code block: a quoted example.
pub(super) fn is_plain_indent(indent: &str) -> bool {
    indent.len() <= 3 && !indent.contains('\t')
}

/// The blanks on the last line of a text, if there is nothing else on it.
fn indent_at_end(text: &str) -> Option<&str> {
    let line_end = text.trim_end_matches([' ', '\t']);
    let is_blank = line_end.is_empty() || line_end.ends_with('\n');
    text.get(line_end.len()..).filter(|_| is_blank)
}

/// Whether what follows this text may be part of a quotation or of inline code. Both run on over lines, and end with their
/// paragraph.
fn is_quoting(text: &str) -> bool {
    let mut quoting = Quoting::default();
    let (mut begins_line, mut backticks) = (true, 0);
    for sign in text.chars() {
        if sign == '`' {
            backticks += 1;
        } else if backticks > 0 {
            // Code ends with as many backticks as it began with.
            match quoting.code {
                0 => quoting.code = backticks,
                open if open == backticks => quoting.code = 0,
                _ => {}
            }
            backticks = 0;
        }
        match sign {
            '\n' if begins_line => quoting = Quoting::default(),
            '>' if begins_line => quoting.quotation = true,
            '"' => quoting.straight = !quoting.straight,
            '“' => quoting.curly = true,
            '”' => quoting.curly = false,
            _ => {}
        }
        begins_line = sign == '\n' || (begins_line && sign.is_ascii_whitespace());
    }
    quoting != Quoting::default()
}

/// What has begun to quote in a paragraph, and has not ended.
#[derive(Default, PartialEq)]
struct Quoting {
    quotation: bool,
    straight: bool,
    curly: bool,
    /// How many backticks inline code began with.
    code: usize,
}

#[cfg(test)]
mod tests;
