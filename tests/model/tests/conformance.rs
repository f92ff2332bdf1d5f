//! The real core against the model: every transition of the lifecycle, driven through the runner of the vectors.

use std::collections::{BTreeMap, HashMap};
use std::thread;

use serde_json::{Map, Value, json};
use turnlatch_model::faults::Fault;
use turnlatch_model::lifecycle::step;
use turnlatch_model::script::{Case, case, cases};
use turnlatch_model::walk::{Bounds, Transition, Walk, all_settings};
use turnlatch_model::wording::essence;
use turnlatch_model::words::{Event, Settings};
use turnlatch_tests::{Vector, VectorFile, execute, gates, repository, write_file};

/// What came of driving every transition of one setting.
struct Driven {
    states: usize,
    steps: usize,
    rules: BTreeMap<&'static str, usize>,
    /// Where the core does not answer as the model, with how many steps lead there.
    disagreements: Vec<(usize, String)>,
    /// The vector and the step that take each transition first.
    places: Vec<(usize, usize)>,
    file: VectorFile,
}

#[test]
fn the_core_takes_every_transition_of_the_model_and_answers_the_same() {
    // A folder for the capability, as in `tests/vectors`, so that every runner finds them there in the same way.
    let root = repository().join("target/model-vectors");
    let folder = root.join("lifecycle");
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&folder).expect("a folder for the vectors");
    let (mut states, mut transitions, mut steps, mut vectors) = (0, 0, 0, 0);
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    let mut disagreements = Vec::new();
    let mut places = Map::new();
    for (number, driven) in drive_all().into_iter().enumerate() {
        states += driven.states;
        transitions += driven.places.len();
        steps += driven.steps;
        vectors += driven.file.vectors.len();
        for (rule, times) in driven.rules {
            *rules.entry(rule).or_default() += times;
        }
        disagreements.extend(driven.disagreements);
        let text = write_file(&driven.file);
        let read: VectorFile = serde_json::from_str(&text).expect("a vector file");
        assert!(read == driven.file, "what other runtimes read is what the core was asked");
        let name = format!("settings-{number:02}.json");
        std::fs::write(folder.join(&name), text).expect("a writable file");
        places.insert(format!("lifecycle/{name}"), json!(driven.places));
    }
    println!("{states} states and {transitions} transitions, every one taken, by {steps} steps of {vectors} vectors");
    println!("what decided: {rules:?}");
    disagreements.sort();
    let shown: Vec<&str> = disagreements.iter().take(3).map(|(_, text)| text.as_str()).collect();
    assert!(disagreements.is_empty(), "{} disagreements, the shortest:\n{}", disagreements.len(), shown.join("\n\n"));
    let never: Vec<_> = RULES.iter().filter(|rule| !rules.contains_key(**rule)).collect();
    assert!(never.is_empty(), "rows of the spec that nothing came to: {never:?}");
    // Other runtimes have to have taken each of these steps.
    std::fs::write(root.join("transitions.json"), Value::from(places).to_string()).expect("a writable file");
    let counts = [("transitions", transitions), ("steps", steps), ("vectors", vectors)];
    gates::report("conformance.rust", &counts);
}

/// Settings have nothing to do with each other, so two cores share them.
fn drive_all() -> Vec<Driven> {
    let all = all_settings();
    let half = |first: usize| {
        let settings = all.iter().enumerate().skip(first).step_by(2);
        settings.map(|(number, settings)| drive(number, *settings)).collect::<Vec<_>>()
    };
    let [mut even, mut odd] = thread::scope(|scope| {
        [0, 1].map(|first| scope.spawn(move || half(first))).map(|half| half.join().expect("a driven half").into_iter())
    });
    (0..all.len()).filter_map(|number| if number % 2 == 0 { even.next() } else { odd.next() }).collect()
}

fn drive(number: usize, settings: Settings) -> Driven {
    let walk = Walk::all(settings, BOUNDS, None);
    let cases = cases(&walk, &format!("settings {number}"));
    let mut taken = HashMap::new();
    let mut driven = Driven {
        states: walk.states.len(),
        steps: 0,
        rules: BTreeMap::new(),
        disagreements: Vec::new(),
        places: Vec::new(),
        file: VectorFile { about: format!("Every transition with {settings:?}"), vectors: Vec::new() },
    };
    for (place, case) in cases.iter().enumerate() {
        let executed = execute(&vector(case));
        for (index, expected) in case.expected.iter().enumerate() {
            let found = essence(&executed.steps[index], &executed.steps[index]["then"]);
            if found == expected.answer {
                *driven.rules.entry(expected.rule).or_default() += 1;
                if let Some(transition) = &expected.transition {
                    taken.entry(transition).or_insert((place, index));
                }
            } else {
                let sequence = sequence(&executed, index);
                let answers = format!("{}: model {}\ncore {found}", expected.rule, expected.answer);
                driven.disagreements.push((index, format!("{settings:?}\n{sequence}\n{answers}")));
            }
        }
        driven.steps += case.steps.len();
        driven.file.vectors.push(executed);
    }
    let place = |one: &Transition| taken.get(&(walk.states[one.from].clone(), one.event)).copied();
    driven.places = walk.transitions.iter().filter_map(place).collect();
    let never = walk.transitions.len() - driven.places.len();
    assert!(never == 0 || !driven.disagreements.is_empty(), "{never} transitions were never taken with {settings:?}");
    driven
}

/// A comparison that finds nothing must be one that would have found something.
#[test]
fn a_fault_in_the_lifecycle_would_be_a_disagreement() {
    let mut told = 0;
    for fault in Fault::ALL {
        let wrong = all_settings().into_iter().find_map(|settings| {
            let walk = Walk::all(settings, BOUNDS, Some(fault));
            let is_wrong = |one: &Transition| step(&settings, &walk.states[one.from], one.event) != one.outcome;
            let place = walk.transitions.iter().position(is_wrong)?;
            Some((walk, place))
        });
        // The faults of hosts are not the lifecycle's.
        let Some((walk, place)) = wrong else { continue };
        let wrong = &walk.transitions[place];
        // What a run has got wrong may show only in its next step.
        let next = walk.transitions.iter().filter(|one| wrong.to == Some(one.from));
        let shows = [wrong].into_iter().chain(next).any(|one| {
            let case = case(&walk, one, format!("{fault:?}"));
            let executed = execute(&vector(&case));
            let mut steps = executed.steps.iter().zip(&case.expected);
            steps.any(|(step, expected)| essence(step, &step["then"]) != expected.answer)
        });
        assert!(shows, "the core agrees with {fault:?}");
        told += 1;
    }
    println!("the core disagrees with {told} of {} faults; the others are of hosts", Fault::ALL.len());
    assert!(told >= 28, "only {told} faults of the lifecycle");
}

#[test]
fn an_end_can_be_reached_from_every_state_also_without_a_cancel() {
    for settings in all_settings() {
        let walk = Walk::all(settings, BOUNDS, None);
        let without = walk.without_an_end(|event| !matches!(event, Event::Cancel));
        assert!(without.is_empty(), "{settings:?}: no end from {without:?}");
    }
}

fn vector(case: &Case) -> Vector {
    let mut covers: Vec<String> =
        case.expected.iter().filter_map(|expected| expected.rule.split(' ').next()).map(str::to_owned).collect();
    covers.sort();
    covers.dedup();
    Vector {
        name: case.name.clone(),
        covers,
        given: case.given.clone(),
        admission: Value::Null,
        steps: case.steps.clone(),
    }
}

/// What happened up to a step, without what left no trace.
fn sequence(executed: &Vector, index: usize) -> String {
    let told = |step: &Map<String, Value>| step.get("event").or(step.get("query")).cloned();
    let moves = executed.steps[..index].iter().filter(|step| {
        step["then"]["effects"].as_array().is_some_and(|effects| step.contains_key("event") && !effects.is_empty())
    });
    let lines = moves.chain([&executed.steps[index]]).filter_map(told).map(|told| format!("  {told}"));
    lines.collect::<Vec<_>>().join("\n")
}

const BOUNDS: Bounds = Bounds { attempts: 2, retries: 1 };

/// Every row that a transition can come to.
const RULES: [&str; 39] = [
    "ARROW-2",
    "ARROW-9",
    "ARROW-10 fail",
    "ARROW-10 retry",
    "ARROW-11",
    "ARROW-11 waiting",
    "GATE-1",
    "GATE-2",
    "GATE-3",
    "GATE-4",
    "GATE-5",
    "GATE-6",
    "GATE-6 soft",
    "GATE-7",
    "GATE-10",
    "GATE-11",
    "LIFE-1",
    "LIFE-1 unknown",
    "LIFE-2 repeated",
    "LIFE-2 unwanted",
    "LIFE-3",
    "RCPT-1",
    "RCPT-2",
    "RCPT-3 key",
    "RCPT-3 revision",
    "RCPT-4",
    "RCPT-5",
    "RCPT-6",
    "RCPT-7",
    "TIME-1 early",
    "TIME-4",
    "WAIT-1",
    "WAIT-2",
    "WAIT-3",
    "WAIT-4",
    "HIST-1",
    "HOST-2",
    "HOST-9",
    "VIEW-1",
];
