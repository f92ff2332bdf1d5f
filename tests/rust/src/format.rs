//! How a vector file is written: what happens and what comes of it on a line each, so that a diff can be read.

use std::fmt::Write as _;

use serde_json::Value;

use crate::vector::{Vector, VectorFile};

/// The text of a vector file.
#[must_use]
pub fn write_file(file: &VectorFile) -> String {
    let mut text = format!("{{\n  \"about\": {},\n  \"vectors\": [\n", line(&Value::from(file.about.clone())));
    let vectors: Vec<String> = file.vectors.iter().map(write_vector).collect();
    text.push_str(&vectors.join(",\n"));
    text.push_str("\n  ]\n}\n");
    text
}

fn write_vector(vector: &Vector) -> String {
    let mut text = format!(
        "    {{\n      \"name\": {},\n      \"covers\": {}",
        line(&Value::from(vector.name.clone())),
        line(&Value::from(vector.covers.clone()))
    );
    if !vector.given.is_empty() {
        let _ = write!(text, ",\n      \"given\": {}", line(&Value::Object(vector.given.clone())));
    }
    let _ = write!(text, ",\n      \"admission\": {}", line(&vector.admission));
    if !vector.steps.is_empty() {
        let steps: Vec<String> = vector.steps.iter().map(write_step).collect();
        let _ = write!(text, ",\n      \"steps\": [\n{}\n      ]", steps.join(",\n"));
    }
    text.push_str("\n    }");
    text
}

fn write_step(step: &serde_json::Map<String, Value>) -> String {
    let members = |with_then: bool| {
        let chosen = step.iter().filter(|(key, _)| (*key == "then") == with_then);
        chosen
            .map(|(key, value)| format!("{}: {}", Value::from(key.clone()), line(value)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    format!("        {{{},\n          {}}}", members(false), members(true))
}

/// JSON on one line, with a space behind colons and commas.
fn line(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}: {}", visible(&Value::from(key.clone()).to_string()), line(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        other => visible(&other.to_string()),
    }
}

/// Characters that cannot be seen, or that reorder text, are written as escapes.
fn visible(json: &str) -> String {
    let hidden = |character: char| {
        character.is_control()
            || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    json.chars().fold(String::with_capacity(json.len()), |mut text, character| {
        if hidden(character) {
            let _ = write!(text, "\\u{:04x}", u32::from(character));
        } else {
            text.push(character);
        }
        text
    })
}
