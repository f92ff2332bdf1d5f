//! Runs of one skill share their settings, as long as there are not too many, and no run ever has those of another.

use serde_json::{Value, json};
use turnlatch::admission::PlanSettings;
use turnlatch::{HostSettings, Plan, RunRequest, Skill, admit};

fn document(skill: &Skill) -> Value {
    let host = HostSettings::with_engines(["codex"]);
    serde_json::to_value(&*admit(skill, &RunRequest::new("r1", "codex"), &host).expect("a plan"))
        .expect("a plan's document")
}

/// A plan as it comes back from a snapshot.
fn read(document: &Value, seconds: u64) -> Plan {
    let mut document = document.clone();
    document["session_timeout_sec"] = json!(seconds);
    Plan::from_json(&document.to_string()).expect("a plan")
}

fn is_shared(one: &Plan, other: &Plan) -> bool {
    let (one, other): (&PlanSettings, &PlanSettings) = (one, other);
    std::ptr::eq(one, other)
}

/// One test, because what is shared is shared by all runs of a process.
#[test]
fn settings_are_shared_by_those_that_have_the_same_and_by_nobody_else() {
    let plain = Skill::new();
    let (unchecked, checked) = (document(&plain), document(&plain.output_schema(json!({"required": ["answer"]}))));
    let plan = |seconds| read(&unchecked, seconds);
    let found = |living: &[Plan]| living.iter().zip(1_000..).filter(|(it, at)| is_shared(it, &plan(*at))).count();

    let mut living: Vec<Plan> = (1_000..1_200).map(plan).collect();
    assert_eq!(found(&living), 200);
    assert!(!is_shared(&living[0], &living[1]));
    // The schema is one of the settings.
    let (one, same) = (read(&checked, 1_000), read(&checked, 1_000));
    assert!(is_shared(&one, &same) && !is_shared(&one, &living[0]));

    // Those of which no run is left make room first, however many they are.
    living.truncate(100);
    (2_000..2_400).for_each(|seconds| drop(plan(seconds)));
    assert_eq!(found(&living), 100);

    // If too many are in use, new runs no longer find the older ones; those that have them keep them.
    living.extend((1_100..1_400).map(plan));
    assert!(living.iter().zip(1_000..).all(|(plan, seconds)| plan.session_timeout_sec == seconds));
    assert!(!is_shared(&living[0], &plan(1_000)));
    assert!(is_shared(&living[399], &plan(1_399)));
    let newest = living.iter().zip(1_000..).skip(300).filter(|(it, at)| is_shared(it, &plan(*at))).count();
    assert!(newest >= 50, "{newest}");
}
