//! Our own values beside `serde_json`'s.

use super::*;

fn ours_of(theirs: &serde_json::Value) -> Value {
    match theirs {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => Value::Number(number.clone()),
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(ours_of).collect()),
        serde_json::Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), ours_of(value))).collect())
        }
    }
}

#[test]
fn values_answer_as_those_of_serde_json_do() {
    let theirs = serde_json::json!([
        null, false, true, 0, 1, 7, -1, -7, 1.5, 18_446_744_073_709_551_615_u64, "", "text", [], [null],
        ["a", 1], {}, {"a": null}, {"a": 2, "b": {"a": "deeper"}}, {"b": [], "": true}
    ]);
    for theirs in theirs.as_array().unwrap() {
        let mut ours = ours_of(theirs);
        assert_eq!(ours.is_null(), theirs.is_null(), "{theirs}");
        assert_eq!(ours.is_boolean(), theirs.is_boolean(), "{theirs}");
        assert_eq!(ours.is_string(), theirs.is_string(), "{theirs}");
        assert_eq!(ours.is_array(), theirs.is_array(), "{theirs}");
        assert_eq!(ours.is_object(), theirs.is_object(), "{theirs}");
        assert_eq!(ours.as_bool(), theirs.as_bool(), "{theirs}");
        assert_eq!(ours.as_str(), theirs.as_str(), "{theirs}");
        assert_eq!(ours.as_u64(), theirs.as_u64(), "{theirs}");
        assert_eq!(ours.as_i64(), theirs.as_i64(), "{theirs}");
        assert_eq!(ours.as_f64(), theirs.as_f64(), "{theirs}");
        assert_eq!(serde_json::to_string(&ours).unwrap(), theirs.to_string());
        assert_eq!(
            ours.as_array().map(|items| serde_json::to_value(items).unwrap()).as_ref(),
            theirs.as_array().map(|_| theirs)
        );
        for name in ["", "a", "b", "c"] {
            let expected = theirs.get(name).map(ours_of);
            assert_eq!(ours.get(name), expected.as_ref(), "{name:?} of {theirs}");
            assert_eq!(ours.get_mut(name), expected.clone().as_mut(), "{name:?} of {theirs}");
        }
        if let (Value::Object(ours), Some(theirs)) = (&ours, theirs.as_object()) {
            assert_eq!(ours.is_empty(), theirs.is_empty());
            assert!(ours.keys().eq(theirs.keys()));
            assert_eq!(
                serde_json::to_value(ours.values().collect::<Vec<_>>()).unwrap(),
                theirs.values().cloned().collect::<serde_json::Value>()
            );
        }
    }
}

#[test]
fn a_double_is_a_number_or_null() {
    assert_eq!(Value::from(1.5).as_f64(), Some(1.5));
    assert_eq!(Value::from(f64::NAN), Value::Null);
    assert_eq!(Value::from(f64::INFINITY), Value::Null);
}

#[test]
fn a_member_that_is_put_in_again_keeps_its_place_and_gives_back_what_was_there() {
    for count in [1, 16, 17, 40] {
        let mut map: Map = (0..count).map(|index| (format!("n{index}"), Value::from(f64::from(index)))).collect();
        let before: Vec<String> = map.keys().cloned().collect();
        assert_eq!(map.insert("n0".to_owned(), Value::Bool(true)), Some(Value::from(0.0)));
        assert_eq!(map.get("n0"), Some(&Value::Bool(true)));
        assert!(map.keys().eq(&before));
        let other: Map = (0..count).map(|index| (format!("n{index}"), Value::from(f64::from(index)))).collect();
        assert!(map != other);
    }
}

#[test]
fn maps_of_other_members_are_others() {
    let of = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect::<Map>();
    assert!(of(&["a", "b"]) == of(&["b", "a"]));
    assert!(of(&["a", "b"]) != of(&["a"]) && of(&["a"]) != of(&["a", "b"]));
    assert!(of(&["a"]) != of(&["b"]) && of(&[]) != of(&["a"]) && of(&[]) == Map::new());
}

#[test]
fn pointers_point_as_those_of_serde_json_do() {
    let ours = Value::Object(Map::from_iter([("a/b".to_owned(), Value::Array(vec![Value::Null, Value::Bool(true)]))]));
    for pointer in [
        "",
        "/",
        "a",
        "//a~1b",
        "/a~1b",
        "/a~1b/0",
        "/a~1b/1",
        "/a~1b/2",
        "/a~1b/01",
        "/a~1b/+1",
        "/a~1b/-",
        "/a~1b/1/0",
    ] {
        let theirs = serde_json::json!({"a/b": [null, true]});
        let expected = theirs.pointer(pointer).map(ToString::to_string);
        assert_eq!(ours.pointer(pointer).map(|found| serde_json::to_string(found).unwrap()), expected, "{pointer}");
    }
    for step in ["", "~", "~0", "~1", "~01", "~~1", "~~0", "a~2", "~0~1x"] {
        assert_eq!(unescaped(step), step.replace("~1", "/").replace("~0", "~"), "{step}");
    }
}

#[test]
fn members_are_found_among_many_and_keep_their_order() {
    // Names of all lengths that begin alike, with and without the lowest and the highest bytes.
    let tails = ["", "\0", "\0\0", "a", "b", "é", "\u{10ffff}", "0", "1", "01"];
    let names: Vec<String> = (0..100).flat_map(|count| tails.map(|tail| "a".repeat(count) + tail)).collect();
    let mut map = Map::new();
    let mut order: Vec<&str> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let known = order.iter().any(|known| known == name);
        assert_eq!(map.contains_key(name), known, "{name:?}");
        assert_eq!(map.insert(name.clone(), Value::Number(index.into())).is_some(), known, "{name:?}");
        if !known {
            order.push(name);
        }
    }
    assert!(map.keys().eq(&order));
    // Of many names each but the first goes apart from the others somewhere; few are looked through.
    assert_eq!(map.forks.len(), order.len() - 1);
    assert!(map.clone().into_iter().take(FEW).collect::<Map>().forks.is_empty());
    assert_eq!(map.clone().into_iter().take(FEW + 1).collect::<Map>().forks.len(), FEW);
    assert!(order.iter().all(|name| map.contains_key(name) && !map.contains_key(&format!("{name}x"))));
    assert_eq!(map, map.clone().into_iter().collect::<Vec<_>>().into_iter().rev().collect::<Map>());
    let first = order.remove(0);
    assert!(map.shift_remove(first).is_some() && map.shift_remove(first).is_none());
    assert!(map.keys().eq(&order) && map != map.clone().into_iter().skip(1).collect::<Map>());
}
