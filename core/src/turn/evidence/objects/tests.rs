use super::*;

#[test]
fn behind_the_last_closing_bracket_only_what_was_meant_as_json_tells_something() {
    let told = |prose: &str, at: usize| {
        let unclosed = Unclosed::of(prose);
        [None, Some(JsonError::Syntax)].map(|fault| !unclosed.tells_nothing(at, fault))
    };
    assert_eq!(told("{a} {", 0), [true, true]);
    assert_eq!(told("[a] {", 2), [true, true]);
    assert_eq!(told("{a} {", 4), [false, false]);
    assert_eq!(told("{a} {", 3), [false, false]);
    assert_eq!(told("{\"a\"} {", 6), [false, false]);
    assert_eq!(told("{a} {\"a", 4), [true, false]);
    assert_eq!(told("{a} {'a", 4), [true, false]);
    assert_eq!(told("{a} {\"ask_user\"", 4), [true, true]);
    assert_eq!(told("{a} {\"__SKILL_DONE__\"", 4), [true, true]);
    assert_eq!(told("{a} {\"__SKILL\\u005fDONE__\"", 4), [true, true]);
    assert_eq!(told("{a} {__SKILL_DONE__", 4), [false, false]);
    assert_eq!(told("{", 0), [false, false]);
}

#[test]
fn a_flood_of_brackets_is_read_until_there_are_many() {
    let text = "{".repeat(1000);
    // The marker is looked for, fences are, and brackets are; the whole is no object at its second byte.
    let searches = 3 * 1000 + 2;
    let read = u64::try_from(MANY_BRACKETS).unwrap() - 1;
    assert_eq!(find(&text, 8).steps, searches + read + 1000);
}

#[test]
fn the_last_few_know_how_many_there_were() {
    let mut recent = Recent::default();
    for number in 0..MAX_CANDIDATES + 5 {
        recent.push(number);
    }
    assert_eq!((recent.count(), recent.iter().next()), (MAX_CANDIDATES + 5, Some(&5)));
    recent.rewind(MAX_CANDIDATES);
    assert_eq!((recent.count(), recent.iter().last()), (MAX_CANDIDATES, Some(&(MAX_CANDIDATES - 1))));
    recent.rewind(2);
    assert_eq!(recent.iter().count(), 0);
}

#[test]
fn the_marker_is_cut_out_of_any_place() {
    for (text, rest) in [
        (r#"{"__SKILL_DONE__":true,"a":1}"#, r#"{"a":1}"#),
        (r#"{ "__SKILL_DONE__" : true , "a":1}"#, r#"{ "a":1}"#),
        (r#"{"a":1, "__SKILL_DONE__":{"__SKILL_DONE__":2}}"#, r#"{"a":1}"#),
        (r#"{"a":1,"__SKILL\u005fDONE__":[1,2] ,"b":{"__SKILL_DONE__":1}}"#, r#"{"a":1,"b":{"__SKILL_DONE__":1}}"#),
        (r#"{"a":1 , "__SKILL_DONE__":1 }"#, r#"{"a":1  }"#),
    ] {
        let found = find(text, 9);
        assert_eq!(found.objects().next().unwrap().text_without_marker(text).as_deref(), Ok(rest));
    }
}
