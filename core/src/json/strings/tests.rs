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

/// Every escape at every place of a word, with escapes and plain parts of many lengths around it.
#[test]
fn escapes_are_stepped_over_and_decoded_wherever_they_stand() {
    let pieces =
        [("\\n", "\n"), ("\\\"", "\""), ("\\\\", "\\"), ("\\u00e9", "é"), ("\\ud83d\\ude00", "😀"), ("é", "é")];
    for (before, length) in ["a", "\\\""].into_iter().flat_map(|sign| (0..90).map(move |length| (sign, length))) {
        for (first, meant) in pieces {
            for (second, too) in pieces {
                let inside = format!("{}{first}{second}x{second}", before.repeat(length));
                let whole = format!("{}{meant}{too}x{too}", before.trim_start_matches('\\').repeat(length));
                assert_eq!(decoded(&inside, usize::MAX), whole, "{inside}");
                for enough in (0..whole.len()).step_by(7) {
                    let start = decoded(&inside, enough);
                    assert!(start.len() >= enough && whole.starts_with(&start), "{enough} of {inside}");
                }
                let first_code = inside.find("\\u").unwrap_or(inside.len());
                for end in ["\"", "\u{1f}"] {
                    let text = format!("{inside}{end}{}", "n\\\"".repeat(20));
                    assert_eq!(end_of_simple(text.as_bytes(), 0), first_code, "{text}");
                }
            }
        }
    }
    assert_eq!(
        (end_of_simple(b"aaaaaaa\\", 0), end_of_simple(b"aaaa\\n\\x", 0), end_of_simple(b"\\n\n", 0)),
        (7, 6, 0)
    );
}

#[test]
fn a_byte_is_odd_by_itself_and_by_what_stands_before_it() {
    for here in 0..=255 {
        for before in [b'\\', b'a', b'"', b'n', 0, 0x1f, 0x7f, 0x80, 0xdc, 0xff] {
            let is_odd = if before == b'\\' { here != b'"' && here != b'n' } else { here == b'"' };
            for place in 0..8 {
                let (mut word, mut shifted) = ([b'a'; 8], [b'a'; 8]);
                (word[place], shifted[place]) = (here, before);
                let expected = if is_odd || here < b' ' { 0x80 << (8 * place) } else { 0 };
                let found = odd_in(u64::from_le_bytes(word), u64::from_le_bytes(shifted));
                assert_eq!(found, expected, "{here} behind {before} at {place}");
            }
        }
    }
}
