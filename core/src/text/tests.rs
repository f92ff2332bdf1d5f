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
fn a_quoted_value_is_one_short_line() {
    assert_eq!(quoted("a`b\nc\u{7}"), "`a'b c\\u{7}`");
    assert!(quoted(&"x".repeat(500)).len() < 100);
}
