use super::*;

#[test]
fn a_closing_bracket_takes_what_was_left_open_inside_with_it() {
    let before = |objects| Before { objects, markers: Markers::default() };
    let mut stray = StrayBrackets::default();
    stray.open(&[Container::Object, Container::Object, Container::Array], before(1));
    stray.open(&[Container::Array], before(2));
    assert!(stray.close(Container::Object) == Some(before(1)));
    assert!(stray.close(Container::Array).is_none());
    assert!(stray.close(Container::Object) == Some(before(1)));
    assert!(stray.close(Container::Object).is_none());
}

#[test]
fn a_closing_bracket_without_an_open_one_closes_nothing() {
    let before = |objects| Before { objects, markers: Markers::default() };
    let mut stray = StrayBrackets::default();
    stray.open(&[Container::Array], before(1));
    stray.open(&[Container::Object, Container::Object], before(2));
    assert!(stray.close(Container::Object) == Some(before(2)));
    assert!(stray.close(Container::Object) == Some(before(2)));
    assert!(stray.close(Container::Object).is_none());
    assert!(stray.close(Container::Array) == Some(before(1)));
    assert!(stray.close(Container::Array).is_none());

    // What is left open inside is no longer open outside.
    stray.open(&[Container::Array], before(1));
    stray.open(&[Container::Array, Container::Object, Container::Object, Container::Object], before(2));
    assert!(stray.close(Container::Array) == Some(before(2)));
    assert!(stray.close(Container::Object).is_none());
    assert!(stray.close(Container::Array) == Some(before(1)));
    assert!(stray.close(Container::Array).is_none());
}

#[test]
fn equal_brackets_take_no_more_room_and_others_are_kept_apart() {
    let before = |objects| Before { objects, markers: Markers::default() };
    let mut stray = StrayBrackets::default();
    stray.open(&[Container::Array; 1000], before(1));
    assert_eq!(stray.open.len(), 1);
    stray.open(&[Container::Array], before(2));
    assert!(stray.close(Container::Array) == Some(before(2)));
    for _ in 0..1000 {
        assert!(stray.close(Container::Array) == Some(before(1)));
    }
    assert!(stray.close(Container::Array).is_none() && stray.open.is_empty());
}
