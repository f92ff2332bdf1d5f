//! Where the plain part of a JSON string ends, eight bytes at a time: most of what agents write is the inside of strings.

/// The place of the next quotation mark, backslash or control character, or the end of the text.
pub(crate) fn end_of_plain(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(word) = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok()).map(u64::from_le_bytes) {
        let stops = stops_in(word);
        if stops != 0 {
            return at + stops.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_stop(*byte)).unwrap_or(rest.len())
}

fn is_stop(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The high bit of each byte that is a stop. A borrow can mark bytes behind the first stop wrongly, never before it.
fn stops_in(word: u64) -> u64 {
    let is_zero = |word: u64| word.wrapping_sub(EACH) & !word;
    let quotes = is_zero(word ^ (EACH * u64::from(b'"')));
    let backslashes = is_zero(word ^ (EACH * u64::from(b'\\')));
    let controls = word.wrapping_sub(EACH * u64::from(b' ')) & !word;
    (quotes | backslashes | controls) & (EACH << 7)
}

/// One in each byte.
const EACH: u64 = u64::MAX / 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stop_is_found_wherever_it_stands_and_whatever_is_around_it() {
        for stop in 0..=255 {
            for around in [b' ', b'!', b'#', b'[', b']', b'a', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                for place in 0..20 {
                    let mut bytes = [around; 20];
                    bytes[place] = stop;
                    let expected = if is_stop(stop) { place } else { 20 };
                    assert_eq!(end_of_plain(&bytes, 0), expected, "{stop} at {place} among {around}");
                }
            }
        }
        assert_eq!((end_of_plain(b"a\"b\"", 2), end_of_plain(b"", 0), end_of_plain(b"a", 9)), (3, 0, 9));
    }
}
