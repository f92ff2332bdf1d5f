//! The inside of JSON strings, eight bytes at a time: most of what agents write stands there.

#[cfg(feature = "streams")]
use std::borrow::Cow;

/// The place of the next quotation mark, backslash or control character, or the end of the text.
pub(crate) fn end_of_plain(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(word) = word_at(bytes, at) {
        let stops = stops_in(word);
        if stops != 0 {
            return at + stops.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_stop(*byte)).unwrap_or(rest.len())
}

/// The same, but escapes of one sign are stepped over: tools print one every few bytes.
pub(super) fn end_of_simple(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    // Most strings are short, and are over before blocks are worth it.
    let mut close = from + 16;
    loop {
        while at < close {
            let Some(word) = word_at(bytes, at) else { return end_of_plain(bytes, at) };
            let mut stops = stops_in(word);
            let mut step = 8;
            while stops != 0 {
                // The first bit of the byte that stops.
                let shift = stops.trailing_zeros() & !7;
                if byte_of(word, shift) == b'\\' && shift == LAST_BYTE {
                    // What is escaped stands in the next word, which is to begin with the backslash.
                    step = 7;
                    break;
                }
                if byte_of(word, shift) != b'\\' || meaning_of(byte_of(word, shift + 8)).is_none() {
                    return at + shift as usize / 8;
                }
                stops &= !(0x8080 << shift);
            }
            at += step;
        }
        at = end_of_usual(bytes, at);
        close = at + BLOCK;
    }
}

/// Steps over blocks in which nothing stands but plain text, escaped quotation marks and escaped line feeds, whatever
/// their number. A byte is escaped if there is a backslash before it, since no two of them meet in such a block.
fn end_of_usual(bytes: &[u8], from: usize) -> usize {
    let is_behind_backslash = |at: usize| bytes.get(at.saturating_sub(1)) == Some(&b'\\');
    // That one may be escaped itself.
    if is_behind_backslash(from) {
        return from;
    }
    let mut at = from;
    while let Some(block) = bytes.get(at.saturating_sub(1)..).and_then(<[u8]>::first_chunk::<{ BLOCK + 1 }>) {
        let (before, here) = (block.as_chunks().0, block.get(1..).unwrap_or_default().as_chunks().0);
        let words =
            here.iter().zip(before).map(|(here, before)| (u64::from_le_bytes(*here), u64::from_le_bytes(*before)));
        if words.fold(0, |odd, (here, before)| odd | odd_in(here, before)) != 0 {
            break;
        }
        at += BLOCK;
    }
    // What the last byte escapes has not been seen.
    if at > from && is_behind_backslash(at) { at - 1 } else { at }
}

/// The text that the JSON text of a string stands for: all of it, or a beginning that has at least `enough` bytes. None if
/// it is not the text of a string.
#[cfg(feature = "streams")]
pub(crate) fn string(raw: &str, enough: usize) -> Option<Cow<'_, str>> {
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    let is_escaped = memchr::memchr(b'\\', inside.as_bytes()).is_some();
    Some(if is_escaped { Cow::Owned(decoded(inside, enough)) } else { Cow::Borrowed(inside) })
}

/// What the inside of a sound string stands for: all of it, or a beginning that has at least `enough` bytes.
pub(crate) fn decoded(inside: &str, enough: usize) -> String {
    let bytes = inside.as_bytes();
    let mut text = Vec::with_capacity(bytes.len().min(enough.saturating_add(8)));
    let mut at = 0;
    while at < bytes.len() && text.len() < enough {
        // In a sound string everything else is plain, or stands behind a backslash.
        let backslashes = |word: u64| !other_than(b'\\', word) & HIGH;
        let near = word_at(bytes, at).map(|word| (word, backslashes(word))).filter(|(_, stops)| *stops != 0);
        if let Some((word, stops)) = near {
            // Copying all eight bytes and forgetting some is quicker than copying the right ones.
            let (length, plain) = (text.len(), stops.trailing_zeros() as usize / 8);
            text.extend_from_slice(&word.to_le_bytes());
            text.truncate(length + plain);
            at += plain;
        } else {
            let rest = bytes.get(at..inside.ceil_char_boundary(at.saturating_add(enough))).unwrap_or_default();
            let plain = memchr::memchr(b'\\', rest).and_then(|stop| rest.get(..stop)).unwrap_or(rest);
            text.extend_from_slice(plain);
            at += plain.len();
        }
        if bytes.get(at) == Some(&b'\\') {
            at = push_escaped(&mut text, inside, at + 1);
        }
    }
    // INVARIANT: only whole characters were copied, since no part of one is a stop.
    String::from_utf8(text).unwrap_or_default()
}

/// Adds what an escape stands for; `at` is behind its backslash. Returns where the escape ends.
fn push_escaped(text: &mut Vec<u8>, inside: &str, at: usize) -> usize {
    if let Some(sign) = inside.as_bytes().get(at).and_then(|sign| meaning_of(*sign)) {
        text.push(sign);
        return at + 1;
    }
    let unit = |from: usize| inside.get(from..from + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let (code, end) = match (unit(at + 1), unit(at + 7)) {
        (Some(high @ 0xd800..=0xdbff), Some(low)) => (0x1_0000 + ((high & 0x3ff) << 10 | low & 0x3ff), at + 11),
        (unit, _) => (unit.unwrap_or_default(), at + 5),
    };
    let character = char::from_u32(code).unwrap_or_default();
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    end
}

fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

fn byte_of(word: u64, shift: u32) -> u8 {
    (word >> shift).to_le_bytes()[0]
}

fn is_stop(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The high bit of each byte that is a stop, and of no other.
fn stops_in(word: u64) -> u64 {
    !(other_than(b'"', word) & other_than(b'\\', word) & no_control(word)) & HIGH
}

/// The high bit of each byte that is not usual in a string, given the bytes that stand before them.
fn odd_in(here: u64, before: u64) -> u64 {
    let (no_quote, no_letter, is_plain) = (other_than(b'"', here), other_than(b'n', here), other_than(b'\\', before));
    (!no_control(here) | (is_plain & !no_quote) | (!is_plain & no_quote & no_letter)) & HIGH
}

/// The high bit of each byte that is not this sign. No sum passes its byte.
fn other_than(sign: u8, word: u64) -> u64 {
    (((word & !HIGH) ^ (EACH * u64::from(sign))) + !HIGH) | word
}

/// The high bit of each byte that is not a control character.
fn no_control(word: u64) -> u64 {
    ((word & !HIGH) + EACH * u64::from(0x80 - b' ')) | word
}

/// What a sign stands for behind a backslash, if it does so alone.
fn meaning_of(sign: u8) -> Option<u8> {
    Some(match sign {
        b'"' | b'\\' | b'/' => sign,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// One in each byte.
const EACH: u64 = u64::MAX / 255;
/// The high bit of each byte.
const HIGH: u64 = EACH << 7;
/// Bytes that are judged together.
const BLOCK: usize = 32;
/// Where the last byte of a word begins.
const LAST_BYTE: u32 = 56;

#[cfg(test)]
mod tests;
