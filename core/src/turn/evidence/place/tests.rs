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
    for text in
        ["{|oops!", "{|a b", "{|a\nb", "{|}", "{|oops}", "{|]", "{|{", "{|…", "{|...", "{|\u{a0}", "{|é", "{|`", "{|\""]
    {
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
