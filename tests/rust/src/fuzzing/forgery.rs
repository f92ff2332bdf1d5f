//! A stored run, and what somebody who knows JSON well makes of it.

use serde_json::{Value, json};
use turnlatch::{Journal, Run, Transition};

use super::choices;
use crate::hostile::{Case, Throw, plans};

/// A run that lived through events of four bytes each, its journal, and the bytes that are left: two choose the plan and
/// one says how many events there are.
pub(super) fn lived(bytes: &[u8]) -> (Run, Journal, &[u8]) {
    let ([plan, more, events], mut rest) = choices::<3>(bytes);
    let mut throws = Vec::new();
    for _ in 0..events % MOST_EVENTS {
        let ([kind, aim, detail, time], behind) = choices::<4>(rest);
        throws.push(Throw { kind, aim, detail, time });
        rest = behind;
    }
    let case = Case { plan: usize::from(u16::from_le_bytes([plan, more])) % plans().len(), throws };
    let mut journal = Journal::new(case.create().0.plan());
    journal.push(case.create().1.entry.expect("a creation is recorded"));
    let run = case.walk(|seen| {
        if let Ok(Transition { entry: Some(entry), .. }) = seen.result {
            // Some of the turns are recorded without their text.
            journal.push(if events < 128 { entry.clone() } else { entry.clone().compact() });
        }
    });
    (run, journal, rest)
}

/// Bytes of a run that came some way, and was forged a little.
pub(super) fn seeds(mode: u8) -> Vec<Vec<u8>> {
    let lives = (0_u8..48).map(|number| {
        let plan = u16::from(number) * 8;
        let mut bytes = vec![mode, plan.to_le_bytes()[0], plan.to_le_bytes()[1], number % 12 + number / 24 * 128];
        for step in 0..number % 12 {
            bytes.extend([160, 0, number.wrapping_mul(29).wrapping_add(step * 13), if step == 7 { 3 } else { 0 }]);
        }
        bytes.extend([number.wrapping_mul(5), 0, number, number / 3]);
        bytes
    });
    lives.collect()
}

/// Changes a document: each change is four bytes, where, how and with what.
pub(super) fn forge(document: &mut Value, mut changes: &[u8]) {
    for _ in 0..MOST_CHANGES {
        if changes.is_empty() {
            return;
        }
        let ([place, more, how, with], rest) = choices::<4>(changes);
        changes = rest;
        let places = places(document);
        let chosen = |number: usize| &places[number % places.len()];
        let place = chosen(usize::from(u16::from_le_bytes([place, more])));
        let other = document.pointer(chosen(usize::from(with) * 3)).cloned().unwrap_or_default();
        change(document, place, how, with, other);
    }
}

fn change(document: &mut Value, place: &str, how: u8, with: u8, other: Value) {
    let (parent, name) = place.rsplit_once('/').unwrap_or_default();
    match (how % 8, document.pointer_mut(parent)) {
        (0, Some(Value::Object(members))) => drop(members.shift_remove(name)),
        // The document itself is in nothing that it could be taken out of.
        (0, Some(Value::Array(items))) if !place.is_empty() => drop(items.remove(name.parse().expect("an index"))),
        (1, Some(Value::Array(items))) => items.push(other),
        _ => {
            let Some(value) = document.pointer_mut(place) else { return };
            *value = match (how % 8, value.as_u64()) {
                (2, Some(number)) => json!(number.wrapping_add(u64::from(with % 8))),
                (3, Some(number)) => json!(number.wrapping_sub(u64::from(with % 8))),
                (2..=5, _) => other,
                _ => palette(with),
            };
        }
    }
}

fn palette(which: u8) -> Value {
    let values = [
        json!(null),
        json!(false),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(9_007_199_254_740_991_u64),
        json!(""),
        json!(" "),
        json!("x"),
        json!("r1/s1"),
        json!("r1/s2"),
        json!([]),
        json!({}),
        json!("interactive"),
        json!("auto"),
        json!("sticky_process"),
        json!("{\"answer\": 1}"),
        json!("succeeded"),
        json!("failed"),
        json!("waiting_user"),
    ];
    values[usize::from(which) % values.len()].clone()
}

/// Where there is a value, as JSON pointers, in order.
fn places(document: &Value) -> Vec<String> {
    let mut places = Vec::new();
    let mut open = vec![(String::new(), document)];
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Array(items) => {
                open.extend(items.iter().enumerate().rev().map(|(index, item)| (format!("{place}/{index}"), item)));
            }
            Value::Object(members) => {
                let name = |key: &str| key.replace('~', "~0").replace('/', "~1");
                open.extend(members.iter().rev().map(|(key, member)| (format!("{place}/{}", name(key)), member)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        places.push(place);
    }
    places
}

const MOST_EVENTS: u8 = 24;
const MOST_CHANGES: usize = 8;
