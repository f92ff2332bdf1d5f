use super::*;

#[test]
fn the_nearest_name_is_offered_only_when_it_is_near() {
    assert_eq!(nearest("session_timeout", &KNOWN_OPTIONS), Some("session_timeout_sec"));
    assert_eq!(nearest("executionMode", &KNOWN_OPTIONS), Some("execution_mode"));
    assert_eq!(nearest("colour", &KNOWN_OPTIONS), None);
    assert_eq!(nearest(&"x".repeat(100), &KNOWN_OPTIONS), None);
    assert_eq!((distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")), (3, 3, 0));
}
