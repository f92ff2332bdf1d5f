use super::*;

#[test]
fn tells_where_it_broke_and_what_was_open() {
    let mut scanner = Scanner::new("x{\"a\":[{\"b\": oops}]}", 9);
    assert_eq!(scanner.value(1), Err(ScanError { at: 13, fault: JsonError::Syntax }));
    assert_eq!(scanner.still_open(), [Container::Object, Container::Array, Container::Object]);
}

#[test]
fn cuts_a_member_out_of_any_place() {
    for (text, rest) in [
        (r#"{"m":true}"#, "{}"),
        (r#"{ "m" : true , "a":1}"#, r#"{ "a":1}"#),
        (r#"{"a":1, "m":{"m":2}}"#, r#"{"a":1}"#),
        (r#"{"a":1,"\u006d":[1,2] ,"b":{"m":1}}"#, r#"{"a":1,"b":{"m":1}}"#),
    ] {
        let shape = Scanner::new(text, 9).wanting(&["m"]).value(0).unwrap();
        let cut = shape.member("m").unwrap().cut.clone();
        assert_eq!(format!("{}{}", text.get(..cut.start).unwrap(), text.get(cut.end..).unwrap()), rest);
    }
}
