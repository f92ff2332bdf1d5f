use super::*;

#[test]
fn the_nearest_name_is_offered_only_when_it_is_near() {
    assert_eq!(nearest("session_timeout", options()), Some("session_timeout_sec"));
    assert_eq!(nearest("executionMode", options()), Some("execution_mode"));
    assert_eq!(nearest("colour", options()), None);
    assert_eq!(nearest(&"x".repeat(100), options()), None);
    assert_eq!((distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")), (3, 3, 0));
}

#[test]
fn the_sentence_about_a_timeout_names_the_longest() {
    assert!(SECONDS.ends_with(&format!(" {MAX_SESSION_TIMEOUT_SEC}")));
}
