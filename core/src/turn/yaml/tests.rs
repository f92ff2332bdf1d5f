//! Documents beside what they mean.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::json::json_text;

#[track_caller]
fn check(document: &str, expected: &Value) {
    assert_eq!(read_mapping(document).map(Value::Object).as_ref(), Some(expected), "{document}");
}

#[track_caller]
fn refused(document: &str) {
    assert_eq!(read_mapping(document), None, "{document}");
}

#[test]
fn blocks_are_read() {
    check("a: b", &json!({"a": "b"}));
    check("a: b\r\nc: d\r\n", &json!({"a": "b", "c": "d"}));
    check("a: 1\nb:\n  c: 2\n  d:\n    e: 3\nf: 4\n", &json!({"a": 1, "b": {"c": 2, "d": {"e": 3}}, "f": 4}));
    check("a:\n  - b\n  - c\nd: e\n", &json!({"a": ["b", "c"], "d": "e"}));
    check("a:\n- b\n- c\nd: e\n", &json!({"a": ["b", "c"], "d": "e"}));
    check("a:\n- b: 1\n  c: 2\n- d: 3\n", &json!({"a": [{"b": 1, "c": 2}, {"d": 3}]}));
    check("a:\n  - b:\n    - 1\n    - 2\n    c: 3\n", &json!({"a": [{"b": [1, 2], "c": 3}]}));
    check(
        "a:\n  - - 1\n    - 2\n  -\n    - 3\n  -   b: 1\n      c: 2\n",
        &json!({"a": [[1, 2], [3], {"b": 1, "c": 2}]}),
    );
    check("a:\n  b\nc:\n    - d\n", &json!({"a": "b", "c": ["d"]}));
    check("a:\nb: # nothing\nc:\n-\n- # nothing\n-\n", &json!({"a": null, "b": null, "c": [null, null, null]}));
    check("a : 1\n'b' : 2\n\"c\": 3\n", &json!({"a": 1, "b": 2, "c": 3}));
    check("1: a\ntrue: b\n~: c\nno: d\n", &json!({"1": "a", "true": "b", "null": "c", "no": "d"}));
    check("a b: c\nd:e: f\n-g: h\n?i: j\n:k: l\n", &json!({"a b": "c", "d:e": "f", "-g": "h", "?i": "j", ":k": "l"}));
}

#[test]
fn comments_and_markers_are_read() {
    check("# one\n\n  # two\na: b # three\n   # four\nc: d#e\n# five", &json!({"a": "b", "c": "d#e"}));
    check("# one\n--- # two\na: b\n...\nc: [", &json!({"a": "b"}));
    check("a: b\n---\nc: d\n", &json!({"a": "b"}));
    check("--- {a: b}\n---\n", &json!({"a": "b"}));
    check("...\na: b\r...\n%C\n---\n", &json!({"a": "b"}));
    check("\u{feff}# one\na: b\n", &json!({"a": "b"}));
    check("\n\n---\na:\n # one\n - b\n # two\n - c\n", &json!({"a": ["b", "c"]}));
}

#[test]
fn plain_scalars_are_read() {
    check(
        "a: true\nb: False\nc: NULL\nd: ~\ne: 12\nf: -3\n",
        &json!({"a": true, "b": false, "c": null, "d": null, "e": 12, "f": -3}),
    );
    check(
        "a: 1.5\nb: yes\nc: 0x1f\nd: 9223372036854775808\n",
        &json!({"a": "1.5", "b": "yes", "c": "0x1f", "d": "9223372036854775808"}),
    );
    check("a: one\n  two\n\n  three\n\n\n   four\nb: c\n", &json!({"a": "one two\nthree\n\nfour", "b": "c"}));
    check("a:\n  one\n two\nb:\n- three\n four\n", &json!({"a": "one two", "b": ["three four"]}));
    check("a: b - c\n  - d\n  ? e\n", &json!({"a": "b - c - d ? e"}));
    check(
        "a: http://b/c?d=e#f\ng: h, [i] {j} & k * l ! m | n > o % p @ q ` 'r' \"s\"\n",
        &json!({"a": "http://b/c?d=e#f", "g": "h, [i] {j} & k * l ! m | n > o % p @ q ` 'r' \"s\""}),
    );
    check("prompt: Wähle – ja 🙂?   \n", &json!({"prompt": "Wähle – ja 🙂?"}));
}

#[test]
fn indicators_inside_of_plain_scalars_are_text() {
    check("a: -,b\nc: ?]\nd: [-1, -b, ?c, :d]\n", &json!({"a": "-,b", "c": "?]", "d": [-1, "-b", "?c", ":d"]}));
    check("a: [?]\nb: [c, :]\n", &json!({"a": ["?"], "b": ["c", {"null": null}]}));
    for document in ["a: [-]", "a: [b -]", "a: {b: c -}"] {
        refused(document);
    }
}

#[test]
fn tabs_and_escapes_stand_in_text() {
    check("a: b\tc\nd: e\t\n", &json!({"a": "b\tc", "d": "e"}));
    check("a: \x1b[31mred\n", &json!({"a": "\x1b[31mred"}));
}

#[test]
fn keys_may_be_explicit_empty_anchored_and_long() {
    check("? a\n: b\n? c\n", &json!({"a": "b", "c": null}));
    check("{? a : b}", &json!({"a": "b"}));
    check(": a", &json!({"null": "a"}));
    check("&a b: c\n!d e: f\n", &json!({"b": "c", "e": "f"}));
    let long = "a".repeat(1001);
    check(&format!("{long}: b"), &json!({long.clone(): "b"}));
    refused(&format!("{}: b", "a".repeat(1100)));
}

#[test]
fn quoted_scalars_are_read() {
    check(
        "a: ''\nb: \"\"\nc: 'it''s'\nd: 'a \\n \" # : b'\n",
        &json!({"a": "", "b": "", "c": "it's", "d": "a \\n \" # : b"}),
    );
    check(
        "a: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\/\\\\\\N\\_\\L\\P\"",
        &json!({"a": "\0\x07\x08\t\n\x0b\x0c\r\x1b \"/\\\u{85}\u{a0}\u{2028}\u{2029}"}),
    );
    check("a: \"\\x41\\u00e9\\U0001F642\"", &json!({"a": "Aé🙂"}));
    check(
        "a: 'one\n  two  \n\n  three'\nb: \"one \n two\\\n   three\\  \n\n  four\"\n",
        &json!({"a": "one two\nthree", "b": "one twothree \nfour"}),
    );
    check("a: 'b\\\n  c'\n", &json!({"a": "b\\ c"}));
    check("a: '12'\nb: \"true\"\n'3': '~'\n", &json!({"a": "12", "b": "true", "3": "~"}));
    check("a: 'b' # c\nd:\n  \"e\"\nf:\n  - 'g'\n  - \"h\": i\n", &json!({"a": "b", "d": "e", "f": ["g", {"h": "i"}]}));
}

#[test]
fn literal_and_folded_scalars_are_read() {
    check("a: |\n  \n  b\n", &json!({"a": "\nb\n"}));
    refused("a: |11\n            b\n");
    refused("a: |\n   \n  b\n");
    check("a: |\n  one\n   two\n\n  three\nb: c\n", &json!({"a": "one\n two\n\nthree\n", "b": "c"}));
    check(
        "a: >\n  one\n  two\n\n  three\n    four\n  five\n\n\n  six\nb: c\n",
        &json!({"a": "one two\nthree\n  four\nfive\n\nsix\n", "b": "c"}),
    );
    check(
        "a: |-\n  one\n\n\nb: |+\n  two\n\n\nc: >-\n  three\n\nd: >+\n  four\n\n",
        &json!({"a": "one", "b": "two\n\n\n", "c": "three", "d": "four\n\n"}),
    );
    check(
        "a: |2\n    one\n   two\nb: >1-\n  three\nc: |-1 # four\n five\n",
        &json!({"a": "  one\n two\n", "b": " three", "c": "five"}),
    );
    check(
        "a: |\n\n  one\nb: |\nc: >-\n\nd: |+\n\ne: |",
        &json!({"a": "\none\n", "b": "", "c": "", "d": "\n", "e": ""}),
    );
    check(
        "a:\n  - |\n    one\n  - >-\n   two\n   three\n  - b: |\n      # four\n    c: d\n",
        &json!({"a": ["one\n", "two three", {"b": "# four\n", "c": "d"}]}),
    );
    check("a: |\n  one\n# two\nb: |\n  \tthree\n  four", &json!({"a": "one\n", "b": "\tthree\nfour\n"}));
}

#[test]
fn flows_are_read() {
    check("{}", &json!({}));
    check(
        "{\"a\": \"b\", \"c\":1,\"d\":[true,null], e: {f: [g, {h: i}], }, }",
        &json!({"a": "b", "c": 1, "d": [true, null], "e": {"f": ["g", {"h": "i"}]}}),
    );
    check("a: [b, c d, 'e', \"f\", 1, [], {}]\ng: h\n", &json!({"a": ["b", "c d", "e", "f", 1, [], {}], "g": "h"}));
    check("a: [\n  b, # one\n  # two\n  c\n    d,\n  'e\n   f'\n  ]\n", &json!({"a": ["b", "c d", "e f"]}));
    check(
        "a: {b, c: , d: }\ne: [f: 1, g: {h: 2}]\n",
        &json!({"a": {"b": null, "c": null, "d": null}, "e": [{"f": 1}, {"g": {"h": 2}}]}),
    );
    check(
        "a:\n  - [b, c]\n  - {d: e}\nf:\n  {g: h#i, j:k: http://l}\n",
        &json!({"a": [["b", "c"], {"d": "e"}], "f": {"g": "h#i", "j:k": "http://l"}}),
    );
}

#[test]
fn the_end_of_a_flow_may_stand_below_its_line() {
    check("a: {\n  b: c\n}\nd:\n  - [\n    e,\n  ]\n", &json!({"a": {"b": "c"}, "d": [["e"]]}));
    refused("a: {\nb: c}");
    refused("a:\n  b: [\n    c,\n ]\n");
}

#[test]
fn anchors_and_tags_change_nothing() {
    check(
        "a: &b c\nd: !e f\ng: !!str 1\nh: &i !j [&k l]\nm: &n\no: !p\n  q: r\ns:\n- &t u\n- !!v\n  - w\n",
        &json!({"a": "c", "d": "f", "g": 1, "h": ["l"], "m": null, "o": {"q": "r"}, "s": ["u", ["w"]]}),
    );
}

#[test]
fn what_is_left_out_is_refused() {
    for document in [
        // No mapping.
        "",
        "# a",
        "---",
        "a",
        "- a",
        "[a]",
        "'a'",
        "|\n a",
        "~",
        "--- a: b",
        // Aliases, directives and nested keys.
        "a: &b c\nd: *b",
        "*a : b",
        "<<: *a",
        "%YAML 1.2\n---\na: b",
        "%TAG !b! c\n---\na: !b!d e",
        "# b\r\u{feff}%C d\r\n--- {a: b}",
        "...\n%é\n---\na: b",
        "{[a]: b}",
        "[a]: b",
        "{a: b}: c",
        "? - a\n: b",
        // Tabs as indentation, the end of a text, marks of byte order.
        "a:\tb",
        "a:\n\tb: c",
        "a: 'b\n\tc'",
        "-\ta",
        "a: b\0",
        "\0",
        "a: |\n  \0b",
        "# \0\na: b",
        "a: \u{feff}",
        // A key twice.
        "a: b\na: c",
        "{a: b, a: c}",
        "1: a\n'1': b",
        "a:\n  b: c\n  b: d",
        // What stands where it must not.
        "a: b: c",
        "a: b\n c: d",
        "a:\n  b: c\n d: e",
        "  a: b\nc: d",
        "a: - b",
        "a: b\n- c",
        "a:\n  - b\n c: d",
        "a: 'b' c",
        "a: [b] c",
        "{a: b} c",
        "{a: b}\n{a: b}",
        "a: b\n...\n@",
        "a: 'b'\n  c",
        "a: 'b'#c",
        "a: b # c\n  d",
        "a: |\n   b\n  c",
        "a: |\n    \n  b",
        "a: |b",
        "a: |0\n b",
        "a: |12\n b",
        "a: |--\n b",
        // What is never closed, or closed wrongly.
        "a: [b",
        "a: {b: c",
        "a: 'b",
        "a: \"b",
        "a: [b}",
        "a: {b]",
        "a: b]\nc: [",
        "a: ]",
        "a: [b,, c]",
        "a: [, b]",
        "a: ['b' c]",
        "a: \"b\n---\nc\"",
        "a: 'b\nc'",
        "a: [b,\nc]",
        // What means nothing.
        "a: \"\\q\"",
        "a: \"\\x4\"",
        "a: \"\\u+041\"",
        "a: \"\\ud83d\\ude42\"",
        "a: \"\\UFFFFFFFF\"",
        "a: @b",
        "a: `b`",
        "a: %b",
        "a: !b!c d",
        "a: & b",
        "a: &b &c d",
    ] {
        refused(document);
    }
    refused(&format!("a: {}{}", "[".repeat(16), "]".repeat(16)));
}

#[test]
fn as_deep_as_is_read() {
    assert!(read_mapping(&format!("a: {}{}", "[".repeat(15), "]".repeat(15))).is_some());
    assert!(read_mapping(&format!("a:\n  {}b: c", "- ".repeat(14))).is_some());
    assert!(read_mapping(&format!("a:\n  {}b: c", "- ".repeat(15))).is_none());
    assert!(read_mapping(&format!("a: {}b: c{}", "[".repeat(14), "]".repeat(14))).is_some());
    assert!(read_mapping(&format!("a: {}b: c{}", "[".repeat(15), "]".repeat(15))).is_none());
}

#[test]
fn as_much_as_is_read() {
    let block = |bytes: usize| format!("a: {}", "b".repeat(bytes - 3));
    assert!(read_mapping(&block(MAX_BYTES)).is_some());
    assert!(read_mapping(&block(MAX_BYTES + 1)).is_none());
}

proptest! {
    #[test]
    fn what_is_read_is_read_alike_as_json(document in documents()) {
        let Some(found) = read_mapping(&document) else { return Ok(()) };
        prop_assert_eq!(read_mapping(&json_text(&found)), Some(found), "{}", document);
    }
}

/// Good documents with a few faults in them, and words of YAML in any order.
fn documents() -> impl Strategy<Value = String> {
    let fault = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::sample::select(&WORDS[..]), 0..4_u8);
    let damaged = (prop::sample::select(&GOOD[..]), prop::collection::vec(fault, 0..6)).prop_map(|(good, faults)| {
        let mut chars: Vec<char> = good.chars().collect();
        for (from, to, word, kind) in faults {
            let at = from.index(chars.len() + 1);
            let end = chars.len().min(at + to.index(8));
            match kind {
                0 => drop(chars.splice(at..at, word.chars())),
                1 => drop(chars.drain(at..end)),
                2 => drop(chars.splice(at..end, word.chars())),
                _ => {
                    let copy = chars[at..end].to_vec();
                    let there = to.index(chars.len() + 1);
                    chars.splice(there..there, copy);
                }
            }
        }
        chars.into_iter().collect::<String>()
    });
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..24).prop_map(|words| words.concat());
    let lines =
        prop::collection::vec((0..4_usize, prop::collection::vec(prop::sample::select(&WORDS[..]), 0..5)), 1..7);
    let lines = lines.prop_map(|lines| {
        let line = |(indent, words): (usize, Vec<&str>)| [&" ".repeat(indent), &words.concat(), "\n"].concat();
        lines.into_iter().map(line).collect::<String>()
    });
    prop_oneof![damaged, words.prop_map(|words| format!("a: {words}")), lines.prop_map(|lines| format!("a:\n{lines}"))]
}

const GOOD: [&str; 13] = [
    "prompt: Which?\nkind: choose_one\noptions:\n  - A\n  - label: B\n    value: 2\nui_hints:\n  a: true\n",
    "prompt: |\n  one\n   two\n\n  three\nkind: confirm\n",
    "prompt: >-\n  one\n  two\n\n    three\n  four\ncontext: {a: [b, 'c'], \"d\": ~}\n",
    "ask_user:\n  question: \"Which\\n \\u00e9 one\n    and two?\"\n  kind: 'it''s\n    so'\n",
    "a:\n- b\n- c: d\n  e: f\n-\n  - g\n  - - h\n",
    "# one\n--- # two\nprompt: some words\n  and more\n\n  and last # three\n...\nb: c\n",
    "{\"prompt\": \"Which?\", \"options\": [\"a\", {\"label\": \"b\", \"value\": 1}],\n \"c\":{}}\n",
    "a: [\n  b, c d, # one\n  {e: f, g: },\n  h: i\n  ]\n",
    "a: {\n  b: [\n    c,\n  ], d: e\n}\nf:\n  - {\n    g: h\n  }\n",
    "a: |+\n  one\n\nb: >2\n    two\n   three\n\n\nc: |1-\n four\n",
    "a: &b c\nd: !!str e\nf:\n  - !g\n    h: i\n  - &j [k]\n",
    "a:\n  b:\n    c:\n      - d: |\n          e\n        f: g\n      - h\n    i: j\nk: l\n",
    "'a b' : 'c'\n\"d\": \"e\"\nf g: h:i j#k\n12: -3\n~: true\n",
];
const WORDS: [&str; 48] = [
    " ", " ", "  ", "\n", "\n", "\n\n", "\n ", "\n  ", "- ", "-", "a", "b", "a: ", "b: ", "c:", ":", ": ", "#", " # ",
    "'", "\"", "[", "]", "{", "}", ",", ", ", "|", ">", "|-\n", ">+\n", "|2\n", "&x ", "!t ", "!!t", "*x", "? ",
    "---\n", "...\n", "\t", "\\", "\\n", "\\\n", "~", "12", "é", "''", "%",
];
