//! What somebody may do to a snapshot or journal before handing it back.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Replaces the first place where `[find, replace]` finds something; it must find something.
pub(crate) fn edit(text: &str, edit: &Value) -> String {
    let (find, replace) = (edit[0].as_str().expect("a text"), edit[1].as_str().expect("a text"));
    assert!(text.contains(find), "nothing to edit: {find} in {text}");
    text.replacen(find, replace, 1)
}

/// A journal with these of its entries, counted from 1, in this order.
pub(crate) fn reorder(text: &str, order: &[Value]) -> String {
    let mut document: Value = serde_json::from_str(text).expect("a journal");
    let entries = document["entries"].clone();
    document["entries"] = order.iter().map(|number| entry(&entries, number)).collect();
    document.to_string()
}

/// Gives an edited snapshot a digest that fits, as a careful forger would.
pub(crate) fn resign_snapshot(text: &str) -> String {
    let (head, content) = text.split_once("\"run\":").expect("a snapshot");
    let content = content.strip_suffix('}').expect("a snapshot");
    let old = head.split("\"digest\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a digest");
    text.replacen(old, &digest(&["turnlatch snapshot", content]), 1)
}

/// Gives an edited journal revisions, links and a head that fit.
pub(crate) fn resign_journal(text: &str) -> String {
    let mut document: Value = serde_json::from_str(text).expect("a journal");
    let mut head = document["run_id"].as_str().expect("an id").to_owned();
    for (index, entry) in document["entries"].as_array_mut().expect("entries").iter_mut().enumerate() {
        entry["revision"] = Value::from(index + 1);
        let link = Value::from(vec![entry["revision"].clone(), entry["at"].clone(), entry["event"].clone()]);
        head = digest(&["turnlatch journal", &head, &link.to_string()]);
        entry["chain"] = Value::from(head.clone());
    }
    document["head"] = Value::from(head);
    document.to_string()
}

fn entry(entries: &Value, number: &Value) -> Value {
    let index = usize::try_from(number.as_u64().expect("a number")).expect("a small number") - 1;
    entries[index].clone()
}

fn digest(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes it");
        text
    })
}
