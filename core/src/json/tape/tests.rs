use super::*;

#[test]
fn the_value_is_that_of_the_tree() {
    let many: Vec<String> = (0..40).map(|number| format!("\"k{}\": [{number}]", number * 7 % 40)).collect();
    let many = format!("{{{}}}", many.join(","));
    for text in [
        "null",
        " [ ] ",
        "{}",
        "-0",
        "1e3",
        "18446744073709551615",
        "-9223372036854775808",
        "0.1",
        r#""""#,
        r#""a\n\ud83d\ude00 \u00e9\"""#,
        r#"{"a" : {"b":[1,2.5,{"c":null}],"d":"x"} , "e":[[],{},true,false]}"#,
        r#"{"\u0061":"plain","b\t":["\\",""]}"#,
        many.as_str(),
    ] {
        let (document, value) = (Document::read_scanned(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(document.value(), value, "{text}");
        assert_eq!(document.text, text.trim());
        assert_eq!(document.root().number(), value.as_number().cloned(), "{text}");
        for (name, member) in value.as_object().into_iter().flatten() {
            assert_eq!(document.root().member(name).map(Node::to_value).as_ref(), Some(member), "{name} in {text}");
            assert!(document.root().member(&format!("{name}?")).is_none());
        }
    }
}

#[test]
fn the_size_is_the_number_of_parts_and_grows_with_long_texts() {
    let long = "a".repeat(100);
    for (text, expected) in [
        ("null".to_owned(), 1),
        ("7".to_owned(), 1),
        (r#""short""#.to_owned(), 1),
        (format!("\"{long}\""), 7),
        ("[]".to_owned(), 1),
        (format!("[1, [2], \"{long}\"]"), 1 + 1 + 2 + 7),
        (r#"{"a": 1, "b": [true]}"#.to_owned(), 1 + 2 + 3),
        (format!("{{\"{long}\": \"{long}\"}}"), 1 + 7 + 7),
    ] {
        let document = Document::read_scanned(&text).unwrap();
        assert_eq!(document.root().size(), expected, "{text}");
    }
}

#[test]
fn a_name_that_stands_twice_is_found_among_few_and_among_many() {
    let names = |count: usize, last: &str| {
        let members: Vec<String> = (0..count).map(|number| format!("\"k{number}\":{{}}")).collect();
        format!("[{{{},\"{last}\":1}}]", members.join(","))
    };
    for count in [1, 2, FEW - 1, FEW, FEW + 1, 100] {
        for last in ["k0", "\\u006b0"] {
            let text = names(count, last);
            assert_eq!(Document::read_scanned(&text).map(|_| ()), Err(JsonError::DuplicateKey), "{text}");
        }
        assert!(Document::read_scanned(&names(count, "k")).is_ok());
    }
}
