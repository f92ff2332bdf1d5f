//! Prints what every vector gave in Rust, for `scripts/compare.py`: one line of canonical JSON per vector.

use serde_json::{Map, Value, json};
use turnlatch_tests::{execute, repository, vector_files};

fn main() {
    let folder = repository().join("tests/vectors");
    for (path, file) in vector_files() {
        let path = path.strip_prefix(&folder).expect("a file of vectors").display().to_string();
        for vector in &file.vectors {
            let filled = execute(vector);
            let then: Vec<_> = filled.steps.iter().map(|step| step.get("then")).collect();
            let told = json!({"name": filled.name, "admission": filled.admission, "then": then});
            println!("{path}\t{}", sorted(told));
        }
    }
}

/// The same value with the keys of every object in the order of their characters.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().map(|(key, member)| (key, sorted(member))).collect();
            members.sort_by(|left, right| left.0.cmp(&right.0));
            Value::Object(Map::from_iter(members))
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}
