//! JSONTestSuite: each of its texts, everywhere that JSON from outside is read. Texts named `y_` must be taken, those named
//! `n_` refused, and a reader may choose what it makes of those named `i_`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tried, carried_out, read_suite};

#[derive(Deserialize)]
struct Sample {
    name: String,
    input: String,
}

/// What a reader made of a text.
#[derive(Clone, PartialEq)]
enum Reading {
    Taken,
    /// The text is not JSON, but has an object in it, as prose may have (OUT-2).
    FoundInside,
    Refused,
}

/// The place where the text stands alone and must be an object; in all others it is a value among members.
const ALONE: &str = "an agent's words";

/// What is refused although the suite asks for it, by the rule that says so.
const FORBIDDEN: [(&str, &str); 2] =
    [("y_object_duplicated_key.json", "OUT-4"), ("y_object_duplicated_key_and_value.json", "OUT-4")];

pub(super) fn carry_out() -> Tried {
    let mut cases = Vec::new();
    let mut broken = Vec::new();
    let [mut forbidden, mut found_inside, mut chosen] = [const { BTreeMap::new() }; 3];
    let mut counts = [0, 0];
    for sample in read_suite::<Sample>("json.json") {
        let mut readings = BTreeMap::new();
        let steps = places(&sample.input);
        let given = json!({"skill": {"output_schema": "{}"}, "request": {"execution_mode": "auto"}});
        let name = format!("JSONTestSuite: {}", sample.name);
        let judged = carried_out(name, &["OUT-4"], given, steps.iter().map(|(_, step)| step.clone()).collect());
        for ((place, _), step) in steps.iter().zip(&judged.steps) {
            readings.insert(*place, reading(&step["then"]));
        }
        let request =
            format!(r#"{{"run_id": "r1", "engine": "codex", "execution_mode": "auto", "input": {}}}"#, sample.input);
        let name = format!("JSONTestSuite: {}, as the input of a request", sample.name);
        let asked = carried_out(name, &["ADM-10"], json!({ "request_text": request }), Vec::new());
        readings.insert("a request", reading(&asked.admission));
        cases.extend([judged, asked]);

        let text = sample.input.trim_start_matches(['\u{feff}', ' ', '\t', '\n', '\r']);
        if !text.starts_with('{') && readings.remove(ALONE) == Some(Reading::Taken) {
            broken.push(format!("{}: no object, but taken for an output", sample.name));
        }
        let told = in_words(&readings);
        let rule = FORBIDDEN.iter().find(|(name, _)| *name == sample.name).map(|(_, rule)| *rule);
        match (sample.name.split('_').next(), rule) {
            (Some("y"), None) if readings.values().all(|reading| *reading == Reading::Taken) => counts[0] += 1,
            (Some("y"), Some(rule)) if readings.values().all(|reading| *reading == Reading::Refused) => {
                forbidden.insert(sample.name, Value::from(rule));
            }
            (Some("n"), None) if readings.values().all(|reading| *reading != Reading::Taken) => {
                counts[1] += 1;
                if readings.values().any(|reading| *reading == Reading::FoundInside) {
                    found_inside.insert(sample.name, told);
                }
            }
            (Some("i"), None) => {
                chosen.insert(sample.name, told);
            }
            _ => broken.push(format!("JSONTestSuite: {}: {told}", sample.name)),
        }
    }
    let counts = format!(
        "JSONTestSuite in Rust: {} texts are taken and {} refused, as they must be; {} are forbidden by rules, {} left open",
        counts[0],
        counts[1],
        forbidden.len(),
        chosen.len()
    );
    let known =
        json!({"forbidden": forbidden, "refused, but with an object inside": found_inside, "left open": chosen});
    Tried { cases, known, broken, counts }
}

/// Everywhere that JSON is read while a run is on its way, with the text in it.
fn places(text: &str) -> Vec<(&'static str, Value)> {
    let describe = |part: &str, document: String| json!({"query": {"describe_skill": {"skill": {part: document}}}});
    let job = format!(r#"{{"skill": "demo", "engine": "codex", "input": {text}}}"#);
    vec![
        (ALONE, json!({"turn": {"text": text}})),
        ("a member in an agent's words", json!({"turn": {"text": format!(r#"{{"value": {text}}}"#)}})),
        (
            "an event",
            json!({"event_text": format!(r#"{{"type": "turn_finished", "attempt_number": 1, "output": {text}}}"#)}),
        ),
        ("a reply", json!({"event_text": format!(r#"{{"type": "reply", "interaction_id": 1, "response": {text}}}"#)})),
        ("a job", json!({"query": {"read_job": {"body": job, "run_id": "r1"}}})),
        ("a manifest", describe("runner", format!(r#"{{"own": {text}}}"#))),
        ("a schema", describe("output_schema", format!(r#"{{"const": {text}}}"#))),
    ]
}

/// What an answer says about the JSON in the question.
fn reading(answer: &Value) -> Reading {
    let decision = &answer["decision"];
    let refused = decision["outcome"] == "failed"
        || answer["rejected"]["code"] == "EVENT_MALFORMED"
        || answer.get("refused").is_some()
        || answer["problems"].as_array().is_some_and(|problems| !problems.is_empty());
    match decision["evidence"]["source"].as_str() {
        _ if refused => Reading::Refused,
        Some("prose" | "fence" | "json_fence") => Reading::FoundInside,
        _ => Reading::Taken,
    }
}

/// One word if all places agree, else one for each.
fn in_words(readings: &BTreeMap<&str, Reading>) -> Value {
    let word = |reading: &Reading| match reading {
        Reading::Taken => "taken",
        Reading::FoundInside => "an object inside it is taken",
        Reading::Refused => "refused",
    };
    let mut words: Vec<_> = readings.values().map(word).collect();
    words.dedup();
    match words[..] {
        [one] => Value::from(one),
        _ => readings.iter().map(|(place, reading)| ((*place).to_owned(), Value::from(word(reading)))).collect(),
    }
}
