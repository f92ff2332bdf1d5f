use super::*;

#[test]
fn tells_where_it_broke_and_what_was_open() {
    let mut scanner = Scanner::new("x{\"a\":[{\"b\": oops}]}", 9);
    assert_eq!(scanner.value(1), Err(ScanError { at: 13, error: JsonError::Syntax }));
    assert_eq!(scanner.still_open(), [Container::Object, Container::Array, Container::Object]);
}
