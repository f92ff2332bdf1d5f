//! The JSON-Schema-Test-Suite. Objects are judged as an agent's words; any other value as a request's `input`, because
//! only there it may be anything, also null.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::known::{Named, pin};
use super::{Tried, carried_out, read_suite};
use crate::vector::Vector;

#[derive(Deserialize)]
struct Group {
    file: String,
    description: String,
    schema: String,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    description: String,
    instance: String,
    valid: bool,
}

/// What is refused by rule (BAD-3), whatever the suite says.
const FORBIDDEN: [&str; 3] = ["SCHEMA_PATTERN_UNSUPPORTED", "SCHEMA_REF_FORBIDDEN", "SCHEMA_TOO_COMPLEX"];

/// What has come of the tests so far.
#[derive(Default)]
struct Tally {
    /// Tests that come out as the suite has them: mandatory, optional.
    holding: [usize; 2],
    /// Tests of schemas that are refused: by BAD-3, for identifiers inside.
    refused: [usize; 2],
    forbidden: Named,
    inside: Named,
    missed: Named,
    broken: Vec<String>,
}

pub(super) fn carry_out() -> Tried {
    let mut cases = Vec::new();
    let mut tally = Tally::default();
    for group in read_suite::<Group>("json-schema.json") {
        let schema = with_dialect(&group);
        let in_words = in_words(&group, &schema);
        if let Some(code) = in_words.admission["refused"]["code"].as_str() {
            let inside = code == "SCHEMA_REF_FORBIDDEN" && stays_inside(&schema);
            tally.refuse(&group, code, inside);
        } else {
            let mut words = in_words.steps.iter();
            for test in &group.tests {
                if is_object(test) {
                    let step = words.next().expect("a step for each object");
                    tally.judge(&group, test, &in_decision(&step["then"]));
                } else {
                    let case = as_input(&group, &schema, test);
                    tally.judge(&group, test, &in_admission(&case.admission));
                    cases.push(case);
                }
            }
        }
        cases.push(in_words);
    }
    let counts = format!(
        "JSON-Schema-Test-Suite in Rust: {} mandatory tests hold and {} optional ones, {} optional ones do not; \
         {} are for schemas that BAD-3 forbids, {} for schemas with identifiers inside, which are refused too",
        tally.holding[0],
        tally.holding[1],
        tally.missed.values().map(BTreeMap::len).sum::<usize>(),
        tally.refused[0],
        tally.refused[1]
    );
    let known = json!({
        "BAD-3 forbids": tally.forbidden,
        "refused for identifiers inside the document": tally.inside,
        "optional, and decided otherwise": tally.missed,
    });
    Tried { cases, known, broken: tally.broken, counts }
}

impl Tally {
    fn refuse(&mut self, group: &Group, code: &str, inside: bool) {
        if inside {
            self.refused[1] += group.tests.len();
            pin(&mut self.inside, &group.file, &group.description, code);
        } else if FORBIDDEN.contains(&code) {
            self.refused[0] += group.tests.len();
            pin(&mut self.forbidden, &group.file, &group.description, code);
        } else {
            group.tests.iter().for_each(|test| self.judge(group, test, code));
        }
    }

    fn judge(&mut self, group: &Group, test: &Test, verdict: &str) {
        let optional = group.file.contains("/optional/");
        if verdict == if test.valid { "valid" } else { "invalid" } {
            self.holding[usize::from(optional)] += 1;
        } else if optional {
            pin(&mut self.missed, &group.file, &format!("{}: {}", group.description, test.description), verdict);
        } else {
            self.broken.push(format!("{}: {verdict}", name_of(group, test)));
        }
    }
}

/// Whether every reference of a schema leads to a part of it, as the validator alone sees it.
fn stays_inside(schema: &str) -> bool {
    serde_json::from_str(schema).is_ok_and(|schema| jsonschema::options().offline().build(&schema).is_ok())
}

/// Files of old drafts do not say which draft they are for; a text without `$schema` follows the newest (BAD-3).
fn with_dialect(group: &Group) -> String {
    let number = match group.file.split('/').next() {
        Some("draft4") => "04",
        Some("draft6") => "06",
        Some("draft7") => "07",
        _ => return group.schema.clone(),
    };
    match serde_json::from_str::<Map<String, Value>>(&group.schema) {
        Ok(members) if !members.contains_key("$schema") => {
            let rest = group.schema.trim_start_matches('{');
            let comma = if members.is_empty() { "" } else { ", " };
            format!("{{\"$schema\": \"http://json-schema.org/draft-{number}/schema#\"{comma}{rest}")
        }
        _ => group.schema.clone(),
    }
}

fn is_object(test: &Test) -> bool {
    test.instance.starts_with('{')
}

fn name_of(group: &Group, test: &Test) -> String {
    format!("JSON-Schema-Test-Suite: {}: {}: {}", group.file, group.description, test.description)
}

/// Where the suite has formats as annotations, so has the skill; its tests of formats are optional ones (ADM-14).
fn skill(group: &Group, part: &str, schema: &str) -> Value {
    let annotates = group.file.ends_with("/format.json");
    json!({"runner": {"assert_formats": !annotates}, part: schema})
}

/// One turn for each object among the instances; none if the schema is refused.
fn in_words(group: &Group, schema: &str) -> Vector {
    let name = || format!("JSON-Schema-Test-Suite: {}: {}", group.file, group.description);
    let given = json!({"skill": skill(group, "output_schema", schema), "request": {"execution_mode": "auto"}});
    let admitted = carried_out(name(), &["BAD-3"], given.clone(), Vec::new());
    if admitted.admission.get("refused").is_some() {
        return admitted;
    }
    let objects = group.tests.iter().filter(|test| is_object(test));
    let steps = objects.map(|test| json!({"turn": {"text": test.instance}})).collect();
    carried_out(name(), &["GATE-2"], given, steps)
}

fn as_input(group: &Group, schema: &str, test: &Test) -> Vector {
    let request =
        format!(r#"{{"run_id": "r1", "engine": "codex", "execution_mode": "auto", "input": {}}}"#, test.instance);
    let given = json!({"skill": skill(group, "input_schema", schema), "request_text": request});
    carried_out(name_of(group, test), &["ADM-9"], given, Vec::new())
}

/// `valid`, `invalid`, or the code of whatever else was said.
fn in_decision(judged: &Value) -> String {
    let decision = &judged["decision"];
    match (decision["outcome"].as_str(), decision["evidence"]["output"].as_str()) {
        (Some("succeeded"), Some("valid")) => "valid".to_owned(),
        (Some("failed"), Some("invalid")) => "invalid".to_owned(),
        _ => decision.to_string(),
    }
}

fn in_admission(admission: &Value) -> String {
    match admission["refused"]["code"].as_str() {
        None => "valid".to_owned(),
        Some("INPUT_INVALID") => "invalid".to_owned(),
        Some(code) => code.to_owned(),
    }
}
