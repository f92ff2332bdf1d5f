use super::*;

fn check(text: &str, expected: Result<&str, JsonError>) {
    let found = parse_value(text, 4).map(|value| value.to_string());
    assert_eq!(found, expected.map(str::to_owned), "{text}");
}

#[test]
fn takes_strict_json_and_nothing_else() {
    check(" {\"b\":1,\"a\":[true,null,\"x\"]}\r\n", Ok("{\"b\":1,\"a\":[true,null,\"x\"]}"));
    check("\u{feff}{}", Ok("{}"));
    check("[18446744073709551615,-9223372036854775808]", Ok("[18446744073709551615,-9223372036854775808]"));
    check("\"\\ud83d\\ude00\"", Ok("\"😀\""));
    check("[[[[1]]]]", Ok("[[[[1]]]]"));
    for bad in [
        "",
        "{",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1,]",
        "[1 2]",
        "{a:1}",
        "{'a':1}",
        "nul",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "-",
        "\"a",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "{\"a\":1}}",
        "{\"a\":1]",
        "[1}",
        "NaN",
        "\u{a0}1",
        "// c\n1",
        "\"\\u+123\"",
    ] {
        check(bad, Err(JsonError::Syntax));
    }
    check("[[[[[1]]]]]", Err(JsonError::TooDeep));
    check("{\"a\":{\"b\":1,\"\\u0062\":2}}", Err(JsonError::DuplicateKey));
    check("18446744073709551616", Err(JsonError::NumberOutOfRange));
    check("-9223372036854775809", Err(JsonError::NumberOutOfRange));
    check("1e400", Err(JsonError::NumberOutOfRange));
    check("\"\\ud83d\"", Err(JsonError::LoneSurrogate));
    check("\"\\ude00\\ud83d\"", Err(JsonError::LoneSurrogate));
}
