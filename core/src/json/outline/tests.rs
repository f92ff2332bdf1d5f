use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::build;
use super::*;

/// Takes and refuses what is taken and refused where values are built.
#[test]
fn reads_as_strictly_as_values_are_read() {
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
        let read = Outline::read(text, 4).map(|outline| build(outline.whole().raw()).unwrap());
        assert_eq!(read, super::super::parse_value(text, 4), "{text}");
    }
}

#[test]
fn structs_take_what_they_name_as_it_stands_in_the_text() {
    #[derive(Deserialize)]
    struct Read<'r> {
        d: &'r str,
        a: (&'r str, &'r str, BTreeMap<String, &'r str>),
    }
    let text = r#"{"a":[1,"x\u00e9\n",{"c":-7}],"skipped":[{"d":2}],"\u0064":"text"}"#;
    let outline = Outline::read(text, 9).unwrap();
    let Read { d, a } = Read::deserialize(outline.whole()).unwrap();
    assert_eq!(
        (a.0, string(a.1, 9).as_deref(), a.2),
        ("1", Some("xé\n"), BTreeMap::from([("\"c\"".to_owned(), "-7")]))
    );
    assert!(matches!(string(d, 9), Some(Cow::Borrowed("text"))) && string(a.0, 9).is_none());
    assert_eq!(outline.whole().get("d").map(Item::raw), Some("\"text\""));
    assert!(outline.whole().get("a").unwrap().get("d").is_none());
}
