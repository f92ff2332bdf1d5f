//! Runs of one skill share their settings, as long as there are not too many, and no run ever has those of another.

use serde_json::json;
use turnlatch::{HostSettings, Manifest, PlanSettings, RunPlan, RunRequest, admit};

/// A plan as it comes back from a snapshot.
fn plan(seconds: u64) -> RunPlan {
    plan_of(&Manifest::new(r#"{"execution_modes": ["auto"]}"#), seconds)
}

fn plan_of(manifest: &Manifest, seconds: u64) -> RunPlan {
    let request = RunRequest::from(json!({"run_id": "r1", "engine": "codex", "execution_mode": "auto"}));
    let host = HostSettings { engines: vec!["codex".to_owned()], ..HostSettings::default() };
    let admitted = admit(manifest, &request, &host).expect("a plan");
    let mut document = serde_json::to_value(&*admitted).expect("a plan's document");
    document["session_timeout_sec"] = json!(seconds);
    RunPlan::from_json(&document.to_string()).expect("a plan")
}

fn is_shared(one: &RunPlan, other: &RunPlan) -> bool {
    let (one, other): (&PlanSettings, &PlanSettings) = (one, other);
    std::ptr::eq(one, other)
}

/// Makes plans that nobody keeps, with settings that nobody else has.
fn forget(seconds: impl Iterator<Item = u64>) {
    for seconds in seconds {
        drop(plan(seconds));
    }
}

/// One test, because what is shared is shared by all runs of a process.
#[test]
fn settings_are_shared_by_those_that_have_the_same_and_by_nobody_else() {
    let mut living: Vec<RunPlan> = (1_000..1_200).map(plan).collect();
    assert!(living.iter().zip(1_000..).all(|(plan, seconds)| plan.session_timeout_sec == seconds));
    assert!(living.iter().zip(1_000..).all(|(kept, seconds)| is_shared(kept, &plan(seconds))));
    assert!(!is_shared(&living[0], &living[1]));

    // The schema is one of the settings.
    let checked = Manifest::new(r#"{"execution_modes": ["auto"]}"#).with_output_schema(r#"{"required": ["answer"]}"#);
    let (one, same) = (plan_of(&checked, 1_000), plan_of(&checked, 1_000));
    assert!(is_shared(&one, &same) && !is_shared(&one, &living[0]));

    // Those of which no run is left make room first, however many they are.
    forget(2_000..2_400);
    assert!(living.iter().zip(1_000..).all(|(kept, seconds)| is_shared(kept, &plan(seconds))));

    // If 256 are in use, the older half is no longer found by new runs; those that have them keep them.
    forget(3_000..3_400);
    living.extend((1_200..1_400).map(plan));
    assert!(living.iter().zip(1_000..).all(|(plan, seconds)| plan.session_timeout_sec == seconds));
    assert!(!is_shared(&living[0], &plan(1_000)));
    let found = living.iter().zip(1_000..).filter(|(kept, seconds)| is_shared(kept, &plan(*seconds))).count();
    assert!((100..=256).contains(&found), "{found}");
    assert!(is_shared(&living[399], &plan(1_399)));
}
