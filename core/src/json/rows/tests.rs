use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;
use crate::json::{Document, Escapes, JsonError, Scanner, parse_value, string};

/// Takes and refuses what the scanner does, and has the values that `serde_json` reads.
#[test]
fn reads_as_strictly_as_the_scanner() {
    let many = |last: &str| {
        format!("{{{},\"{last}\":0}}", (0..20).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(","))
    };
    for text in [
        " {\"a\" : [ 1 , {} , [ ] , \"x\\n\" ] , \"b\" : { \"a\" : null } } ",
        "[]",
        "-0",
        "",
        "{,}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{\"a\" 1}",
        "{1:1}",
        "[1,]",
        "[,1]",
        "[1}",
        "{\"a\":1]",
        "{\"a\":1}}",
        "{\"a\":1} x",
        "[[[[]]]]",
        "[[[[[]]]]]",
        "{\"a\":{\"b\":1,\"b\":2}}",
        "{\"a\":{\"b\":1,\"\\u0062\":2}}",
        "[1e400]",
        &many("k20"),
        &many("k7"),
    ] {
        let expected = match Scanner::new(text.trim(), 4).value(0) {
            Ok(shape) if shape.end == text.trim().len() => serde_json::from_str::<serde_json::Value>(text).ok(),
            _ => None,
        };
        let read = Document::read(text, 4, Escapes::Keep).map(|document| document.root().to_value());
        assert_eq!(read, parse_value(text, 4), "{text}");
        assert!(read == Err(JsonError::DuplicateKey) || read.ok() == expected, "{text}");
    }
}

#[test]
fn structs_take_what_they_name_as_it_stands_in_the_text() {
    #[derive(Deserialize)]
    struct Read<'r> {
        d: &'r str,
        a: (String, &'r str, BTreeMap<String, String>),
    }
    let text = r#"{"a":[1,"x\u00e9\n",{"c":-7}],"skipped":[{"d":2}],"\u0064":"text"}"#;
    let document = Document::read(text, 9, Escapes::Keep).unwrap();
    let Read { d, a } = Read::deserialize(document.root()).unwrap();
    assert_eq!(
        (a.0.as_str(), string(a.1, 9).as_deref(), a.2),
        ("1", Some("xé\n"), BTreeMap::from([("c".to_owned(), "-7".to_owned())]))
    );
    assert!(matches!(string(d, 9), Some(std::borrow::Cow::Borrowed("text"))) && string(&a.0, 9).is_none());
    assert_eq!(document.root().member("d").map(Node::scalar_text), Some("\"text\""));
    assert!(document.root().member("a").unwrap().member("d").is_none());
}
