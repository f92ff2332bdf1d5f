//! Hostile text made safe to show, and cut without breaking a character.

use std::borrow::Cow;

use crate::json::{Map, Value};

/// The text with terminal escapes, control and bidi characters made visible, for logs, terminals and messages.
///
/// Line breaks and tabs stay; everything else that does not print is written as `\u{1b}`.
#[must_use]
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

/// Texts, each once. In a map of values, because every build has that.
#[derive(Default)]
pub(crate) struct TextSet(Map);

impl TextSet {
    /// Adds a text; whether it was not there yet.
    pub(crate) fn insert(&mut self, text: &str) -> bool {
        self.0.insert(text.to_owned(), Value::Null).is_none()
    }

    pub(crate) fn contains(&self, text: &str) -> bool {
        self.0.contains_key(text)
    }
}

/// The longest beginning of `text` with at most `bytes` bytes.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}

/// The same of a text that may be its own, which is not copied for it.
#[cfg(feature = "streams")]
pub(crate) fn head_of(text: Cow<'_, str>, bytes: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(head(text, bytes)),
        Cow::Owned(mut text) => {
            text.truncate(text.floor_char_boundary(bytes));
            Cow::Owned(text)
        }
    }
}

/// The longest end of `text` with at most `bytes` bytes.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(start..).unwrap_or_default()
}

/// Where a short sign stands first. A search of any length of sign in the best possible time is five kilobytes longer.
pub(crate) fn find(text: &str, sign: &str) -> Option<usize> {
    places(text, sign).next()
}

/// Where a short sign stands: no byte is looked at more often than the sign has bytes.
pub(crate) fn places(text: &str, sign: &str) -> impl Iterator<Item = usize> {
    places_by(text, sign, 0)
}

/// The same, found by that byte of the sign which texts have few of.
pub(crate) fn places_by(text: &str, sign: &str, rare: usize) -> impl Iterator<Item = usize> {
    let (text, sign) = (text.as_bytes(), sign.as_bytes());
    let byte = sign.get(rare).copied().unwrap_or_default();
    let starts = memchr::memchr_iter(byte, text).filter_map(move |at| at.checked_sub(rare));
    starts.filter(move |at| text.get(*at..).is_some_and(|rest| rest.starts_with(sign)))
}

/// Whether a short sign stands in the text, found by that byte of it which texts have few of.
pub(crate) fn names(text: &str, sign: &str, rare: usize) -> bool {
    places_by(text, sign, rare).next().is_some()
}

/// Where a tag stands, in letters of any case; found by a byte of it that is no letter.
pub(crate) fn tags(text: &str, tag: &str, rare: usize) -> impl Iterator<Item = usize> {
    let text = text.as_bytes();
    let byte = tag.as_bytes().get(rare).copied().unwrap_or_default();
    let starts = memchr::memchr_iter(byte, text).filter_map(move |at| at.checked_sub(rare));
    starts.filter(move |at| text.get(*at..).is_some_and(|rest| starts_with_tag(rest, tag)))
}

/// Whether a text begins with this tag, in letters of any case.
pub(crate) fn starts_with_tag(text: &[u8], tag: &str) -> bool {
    text.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes()))
}

/// The text without these ASCII signs at its beginning. One function for all sets of signs, unlike the standard one.
pub(crate) fn trim_start<'t>(text: &'t str, signs: &[u8]) -> &'t str {
    let start = text.bytes().position(|byte| !signs.contains(&byte)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

/// The text without these ASCII signs at its end.
pub(crate) fn trim_end<'t>(text: &'t str, signs: &[u8]) -> &'t str {
    let end = text.bytes().rposition(|byte| !signs.contains(&byte)).map_or(0, |last| last + 1);
    text.get(..end).unwrap_or_default()
}

/// The text before and behind the first of an ASCII sign. The standard library looks for signs with code of its own; this
/// and what follows looks with that which is there anyway.
pub(crate) fn split_once(text: &str, sign: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(sign, text.as_bytes())?;
    text.get(..at).zip(text.get(at + 1..))
}

/// Whether an ASCII sign stands in the text.
pub(crate) fn has(text: &str, sign: u8) -> bool {
    memchr::memchr(sign, text.as_bytes()).is_some()
}

/// The parts of a text between an ASCII sign; at least one.
pub(crate) fn split(text: &str, sign: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let (part, behind) = match split_once(rest?, sign) {
            Some((part, behind)) => (part, Some(behind)),
            None => (rest?, None),
        };
        rest = behind;
        Some(part)
    })
}

/// The text with another in the place of an ASCII sign.
pub(crate) fn replace(text: &str, sign: u8, by: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = split_once(rest, sign) {
        replaced.push_str(before);
        replaced.push_str(by);
        rest = behind;
    }
    replaced.push_str(rest);
    replaced
}

/// The text before and behind the first place of a sign.
pub(crate) fn split_at_sign<'t>(text: &'t str, sign: &str) -> Option<(&'t str, &'t str)> {
    let at = find(text, sign)?;
    text.get(..at).zip(text.get(at + sign.len()..))
}

/// Writes a number at the end of a text. Every step has some, and the general way takes four times as long.
pub(crate) fn push_number(text: &mut String, number: u64) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + u8::try_from(number % 10).unwrap_or_default()));
}

/// A value from outside as it may stand in a message: quoted, on one line, short.
pub(crate) fn quoted(text: &str) -> String {
    quoted_up_to(text, MESSAGE_VALUE_BYTES)
}

/// The same, with more of it where it is what the message is about.
pub(crate) fn quoted_up_to(text: &str, bytes: usize) -> String {
    let short = head(text, bytes);
    let ellipsis = if short.len() < text.len() { "…" } else { "" };
    let line = replace(&replace(short, b'\n', " "), b'\t', " ");
    format!("`{}{ellipsis}`", replace(&display_text(&line), b'`', "'"))
}

/// Names from outside, quoted, with commas between them.
pub(crate) fn quoted_list(names: &[&str]) -> String {
    let mut list = String::new();
    for name in names {
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&quoted(name));
    }
    list
}

/// A whole number with or without a sign, if 64 bits hold it.
pub(crate) fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        None => text.parse::<u64>().ok()?.try_into().ok(),
        Some(size) if size.starts_with('+') => None,
        Some(size) => 0_i64.checked_sub_unsigned(size.parse().ok()?),
    }
}

/// A name from outside as a step of a JSON pointer in a message.
pub(crate) fn pointer_step(name: &str) -> String {
    replace(&replace(&display_text(head(name, 200)), b'~', "~0"), b'/', "~1")
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
mod tests {
    use super::*;

    #[test]
    fn escapes_and_overrides_become_visible() {
        assert_eq!(display_text("plain\n\ttext é 中"), "plain\n\ttext é 中");
        assert_eq!(display_text("\x1b[31mred\r"), "\\u{1b}[31mred\\u{d}");
        assert_eq!(display_text("a\u{202e}b\0"), "a\\u{202e}b\\u{0}");
    }

    #[test]
    fn cuts_keep_characters_whole() {
        assert_eq!((head("aé", 2), head("aé", 3), head("a", 9)), ("a", "aé", "a"));
        assert_eq!((tail("éa", 2), tail("éa", 3), tail("a", 9)), ("a", "éa", "a"));
    }

    #[test]
    fn integers_are_read_as_the_standard_library_reads_them() {
        let (most, least) = (i64::MAX.to_string(), i64::MIN.to_string());
        let beyond =
            ["9223372036854775808", "-9223372036854775809", "18446744073709551616", "", "-", "+", "-+1", "--1", "1x"];
        for text in ["0", "-0", "+7", "-7", "007", &most, &least].into_iter().chain(beyond) {
            assert_eq!(integer(text), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn signs_are_trimmed_as_the_standard_library_trims_them() {
        for text in ["", " ", "\t x \t", " é ", "x", "x y", "\r\n"] {
            assert_eq!(trim_start(text, b" \t"), text.trim_start_matches([' ', '\t']), "{text:?}");
            assert_eq!(trim_end(text, b" \t"), text.trim_end_matches([' ', '\t']), "{text:?}");
        }
    }

    #[test]
    fn a_sign_is_found_by_any_of_its_bytes() {
        for text in ["", "D", "a_b", "__D", "__DO__ __DO__", "é__DO__", "__D__DO__", "__DO_", "_".repeat(9).as_str()] {
            let expected: Vec<_> = text.match_indices("__DO__").map(|(at, _)| at).collect();
            for rare in 0..6 {
                assert_eq!(places_by(text, "__DO__", rare).collect::<Vec<_>>(), expected, "{text} by {rare}");
            }
        }
    }

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 9, 10, 42, 100, u64::MAX] {
            let mut text = "r/".to_owned();
            push_number(&mut text, number);
            assert_eq!(text, format!("r/{number}"));
        }
    }

    #[test]
    fn a_quoted_value_is_one_short_line() {
        assert_eq!(quoted("a`b\nc\u{7}"), "`a'b c\\u{7}`");
        assert!(quoted(&"x".repeat(500)).len() < 100);
    }
}
