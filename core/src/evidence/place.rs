//! Where an object stands in prose: alone on its lines, last in its message, quoted.

use std::ops::Range;

use super::layout::lines;
use crate::text;

/// Whether an object is alone on its lines, or the last thing in its message, and not quoted.
///
/// Looks no further than the white space around the object, so that many objects on one line cost no more.
pub(super) fn stands_alone(prose: &str, span: Range<usize>, ends_message: bool) -> bool {
    let all_before = prose.get(..span.start).unwrap_or_default();
    let before = text::trim_end(all_before, b" \t");
    let after = text::trim_start(prose.get(span.end..).unwrap_or_default(), b" \t\r");
    if !(after.is_empty() || after.starts_with('\n')) {
        return false;
    }
    if before.is_empty() || before.ends_with('\n') {
        return is_plain_indent(all_before.get(before.len()..).unwrap_or_default());
    }
    let is_last = ends_message && after.trim_start().is_empty();
    is_last && !last_line(before).trim_start().starts_with('>')
}

/// Whether an object behind this text begins a line, and is not quoted there.
pub(super) fn is_unquoted(before: &str) -> bool {
    begins_line(before) && !is_quoting(last_paragraph(before))
}

/// At most one word, as it is left of a value or an escape that was cut off, and white space around it. Looks no further.
pub(super) fn is_last_word(rest: &str) -> bool {
    let word = rest.as_bytes().trim_ascii_start();
    let is_sign = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'\\';
    let behind = word.get(word.iter().take_while(is_sign).count()..).unwrap_or_default();
    behind.iter().all(u8::is_ascii_whitespace)
}

/// Four spaces or a tab make an indented code block.
pub(super) fn is_plain_indent(indent: &str) -> bool {
    indent.len() <= 3 && !text::has(indent, b'\t')
}

/// Whether a line begins behind this text, indented or not. What is indented like a code block is a quoted example.
fn begins_line(before: &str) -> bool {
    let line_end = text::trim_end(before, b" \t");
    let begins = line_end.is_empty() || line_end.ends_with('\n');
    begins && is_plain_indent(before.get(line_end.len()..).unwrap_or_default())
}

fn last_line(text: &str) -> &str {
    let start = text.bytes().rposition(|byte| byte == b'\n').map_or(0, |end| end + 1);
    text.get(start..).unwrap_or_default()
}

/// The lines behind the last blank one.
fn last_paragraph(text: &str) -> &str {
    let is_blank = |line: &str| line.trim_ascii().is_empty() && line.ends_with('\n');
    let blank = lines(text).filter(|line| text.get(line.clone()).is_some_and(is_blank)).last();
    text.get(blank.map_or(0, |line| line.end)..).unwrap_or_default()
}

/// Whether what follows this text in its paragraph may be part of a quotation or of inline code, which run on over lines.
fn is_quoting(paragraph: &str) -> bool {
    let is_quoted = |line: &str| line.trim_ascii_start().starts_with('>');
    let count = |sign: &str| text::places(paragraph, sign).count();
    lines(paragraph).any(|line| paragraph.get(line).is_some_and(is_quoted))
        || count("\"") % 2 == 1
        || opens_code(paragraph)
        || count("“") > count("”")
}

/// Whether inline code begins here that does not end here: it ends with as many backticks as it begins with.
fn opens_code(paragraph: &str) -> bool {
    let mut open = None;
    for run in paragraph.as_bytes().chunk_by(|one, next| (*one == b'`') == (*next == b'`')) {
        if run.first() == Some(&b'`') && open.is_none_or(|length| length == run.len()) {
            open = if open.is_none() { Some(run.len()) } else { None };
        }
    }
    open.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The object breaks at `|`.
    #[track_caller]
    fn check(text: &str, expected: bool) {
        let (read, rest) = text.split_once('|').unwrap();
        let start = read.find('{').unwrap();
        assert_eq!(is_last_word(rest) && is_unquoted(read.get(..start).unwrap()), expected, "{text}");
    }

    #[test]
    fn behind_the_break_there_is_at_most_one_word() {
        for text in ["{|", "{|oops", "{| oops \r\n\n", "{|\\u00", "{|\\ud83d\\ude0", "{|1e999", "a\n   {|", "a\r\n{|"] {
            check(text, true);
        }
        for text in [
            "{|oops!", "{|a b", "{|a\nb", "{|}", "{|oops}", "{|]", "{|{", "{|…", "{|...", "{|\u{a0}", "{|é", "{|`",
            "{|\"",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn the_brace_begins_a_line() {
        for text in ["a {|", "- {|", "a\n    {|", "\t{|", "> {|", "`{|", "\u{feff}{|", "(\n({|"] {
            check(text, false);
        }
    }

    #[test]
    fn what_quotes_runs_on_to_the_end_of_its_paragraph() {
        for quoting in
            ["> a", ">a\nb", "b\n   > a", "a `", "a ``", "`a` `", "``a ` b", "`a`` b", "she said \"", "“", "“a” “"]
        {
            check(&format!("{quoting}\n{{|"), false);
            check(&format!("{quoting}\nb\n{{|"), false);
            check(&format!("{quoting}\n\n{{|"), true);
            check(&format!("{quoting}\n \r\nb\n{{|"), true);
        }
        for plain in ["a", "a > b", "`a`", "``a``", "``a ` b`` `c`", "\"a\"", "“a”", "it's"] {
            check(&format!("{plain}\n{{|"), true);
        }
    }
}
