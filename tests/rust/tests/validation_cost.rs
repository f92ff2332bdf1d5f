//! No schema within the limits makes a verdict explode (BAD-3): it is refused, or its work is counted before it is done,
//! and the count is never far below what the validator really looks at.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use turnlatch::schema::{Check, OutputSchema};
use turnlatch::{Code, Limits};
use turnlatch_tests::gates;
use turnlatch_tests::hostile_schemas::{DOUBLING, Dice, instance, schema};
use turnlatch_tests::watched::{Watched, looks_of};

#[test]
fn what_is_counted_bounds_what_is_looked_at() {
    let mut tally = Tally::default();
    for seed in 0..SEEDS {
        let mut dice = Dice::new(seed);
        let schema = schema(&mut dice);
        let instances: Vec<Value> = (0..INSTANCES).map(|level| instance(&mut dice, 2 + level)).collect();
        tally.add(&format!("seed {seed}"), &schema, &instances);
    }
    for doubling in DOUBLING {
        let mut stops = |levels: usize| {
            let (schema, instances) = (doubling.of_levels)(levels);
            tally.add(&format!("{} {levels} times", doubling.name), &schema, &instances)
        };
        let first = (1..MOST_LEVELS).find(|levels| stops(*levels));
        let first = first.unwrap_or_else(|| panic!("{} doubles {MOST_LEVELS} times unnoticed", doubling.name));
        assert!(stops(MOST_LEVELS), "{} is stopped at {first} levels, but not at {MOST_LEVELS}", doubling.name);
    }
    println!("{tally:?}");
    assert!(tally.refused > 0 && tally.stopped > 0 && tally.verdicts > 1_000, "too little was tried: {tally:?}");
    gates::report(
        "validation-cost",
        &[
            ("schemas", tally.schemas),
            ("refused", tally.refused),
            ("stopped", tally.stopped),
            ("verdicts", tally.verdicts),
            ("looks for 100 counted, at most", usize::try_from(tally.largest_percentage).expect("a small number")),
        ],
    );
}

#[derive(Debug, Default)]
struct Tally {
    schemas: usize,
    refused: usize,
    stopped: usize,
    verdicts: usize,
    most_looks: u64,
    largest_percentage: u64,
}

impl Tally {
    /// Tries a schema on instances; says whether it was refused, or stopped on one of them.
    fn add(&mut self, name: &str, schema: &Value, instances: &[Value]) -> bool {
        self.schemas += 1;
        let compiled = match OutputSchema::compile(&schema.to_string(), &Limits::DEFAULT) {
            Ok(compiled) => compiled,
            Err(problems) => {
                let codes: Vec<Code> = problems.iter().map(|problem| problem.code).collect();
                assert!(codes.iter().all(|code| *code == Code::SchemaTooComplex), "{name}: {problems:?} in {schema}");
                self.refused += 1;
                return true;
            }
        };
        let watching = watching(schema);
        let mut has_stopped = false;
        for instance in instances {
            let check = compiled.check(instance);
            if check == Check::TooMuchWork {
                self.stopped += 1;
                has_stopped = true;
                continue;
            }
            self.verdicts += 1;
            let counted = compiled.counted_work(instance).unwrap_or_else(|| panic!("{name}: done, but not counted"));
            let (looks, is_valid) = looks_of(&watching, instance);
            assert_eq!(check == Check::Valid, is_valid, "{name}: {schema} on {instance}");
            let percentage = looks * 100 / counted;
            assert!(
                percentage <= MOST_LOOKS_FOR_A_HUNDRED,
                "{name}: {looks} looks, {counted} counted, {schema} on {instance}"
            );
            self.most_looks = self.most_looks.max(looks);
            self.largest_percentage = self.largest_percentage.max(percentage);
        }
        has_stopped
    }
}

/// The core's own validator, for instances that count.
fn watching(schema: &Value) -> Validator<Watched> {
    jsonschema::options_for::<Watched>()
        .offline()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(false)
        .build(schema)
        .expect("the core has compiled it")
}

const SEEDS: u64 = 1_000;
const INSTANCES: usize = 5;
const MOST_LEVELS: usize = 40;
const MOST_LOOKS_FOR_A_HUNDRED: u64 = 100;
