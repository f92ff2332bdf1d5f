//! Every attack of `tests/adversarial` has the outcome that its file says, and together they are attacks from all sides.

use std::collections::BTreeMap;

use serde_json::Value;
use turnlatch::Code;
use turnlatch_tests::holding::{assert_all_hold, repeated_names};
use turnlatch_tests::{VectorFile, attack_files, gates, vector_files};

#[test]
fn every_attack_has_its_outcome() {
    let (attacks, steps) = assert_all_hold(attack_files());
    assert!(attacks >= 300, "{attacks} attacks");
    gates::report("adversarial.rust", &[("attacks", attacks), ("steps", steps)]);
}

#[test]
fn a_file_is_one_attack_and_says_what_is_hoped_for() {
    for (path, file) in attack_files() {
        assert_eq!(file.vectors.len(), 1, "{} has one attack", path.display());
        assert!(
            file.about.ends_with('.') && file.about.split(' ').count() > 2,
            "{} says: {}",
            path.display(),
            file.about
        );
        assert!(path.metadata().expect("a file").len() < MOST_BYTES, "{} is large", path.display());
    }
}

#[test]
fn names_are_unique() {
    let twice = repeated_names([attack_files(), vector_files()].concat());
    assert!(twice.is_empty(), "these names stand twice: {twice:?}");
}

#[test]
fn every_rule_about_bad_input_is_attacked_from_many_sides() {
    let mut attacks: BTreeMap<String, usize> = BTreeMap::new();
    for rule in attack_files().into_iter().flat_map(|(_, file)| file.vectors).flat_map(|attack| attack.covers) {
        *attacks.entry(rule).or_default() += 1;
    }
    for rule in (1..=6).map(|number| format!("BAD-{number}")) {
        let count = attacks.get(&rule).copied().unwrap_or_default();
        println!("{rule}: {count} attacks");
        assert!(count >= 15, "{rule} is attacked {count} times");
    }
}

#[test]
fn every_code_that_input_can_cause_is_caused() {
    let expected: String =
        [attack_files(), vector_files()].concat().into_iter().map(|(_, file)| answers(file)).collect();
    let caused = |code: &str| expected.contains(&format!("\"{code}\""));
    for code in Code::ALL.iter().map(|code| code.info()) {
        let kind = serde_json::to_value(code.kind).expect("a kind");
        let is_of_the_core = kind != "hosting" && kind != "service";
        let excused = NOT_BY_INPUT.iter().any(|(name, _)| *name == code.code);
        assert_eq!(caused(code.code), is_of_the_core && !excused, "{} as a {kind}", code.code);
    }
}

/// What the vectors of a file expect, without the table of codes, which has them all.
fn answers(file: VectorFile) -> String {
    let vectors = file.vectors.into_iter().flat_map(|vector| {
        let steps = vector.steps.into_iter().filter(|step| step.get("query").is_none_or(|query| query != "codes"));
        steps.filter_map(|mut step| step.remove("then")).chain([vector.admission]).collect::<Vec<Value>>()
    });
    vectors.map(|answer| answer.to_string()).collect()
}

const MOST_BYTES: u64 = 20_000;
/// Codes of the core that no input causes, and why.
const NOT_BY_INPUT: [(&str, &str); 5] = [
    ("VALIDATOR_MISSING", "only a build without the schema engine has it"),
    ("STREAM_ROW_TOO_LONG", "takes a row of 32 MiB; a test of the decoder has it"),
    ("RUN_UNKNOWN", "a store's"),
    ("RUN_EXISTS", "a store's"),
    ("STORE_CONFLICT", "a store's"),
];
