//! Every state of the hostile world within its bounds; and that each fault put in by hand is found there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use stateright::{Checker, HasDiscoveries, Model};
use turnlatch_model::faults::Fault;
use turnlatch_model::host::Host;
use turnlatch_model::invariants::properties;
use turnlatch_model::steps::{Rule, broken_by};
use turnlatch_model::walk::{Bounds, Walk, all_settings};
use turnlatch_model::words::Settings;
use turnlatch_tests::gates;

#[test]
fn every_step_of_the_lifecycle_keeps_to_the_tables() {
    assert_eq!(broken_step(None), None);
    let steps = |settings| Walk::all(settings, BOUNDS, None).transitions.len();
    held(&[("steps by the tables", all_settings().into_iter().map(steps).sum())]);
}

#[test]
fn nothing_a_hostile_host_does_breaks_an_invariant() {
    let (mut states, mut transitions, mut depth) = (0, 0, 0);
    for host in worlds() {
        let checker = host.clone().checker().threads(1).spawn_bfs().join();
        println!(
            "{:?}: {} states, {} transitions, depth {}",
            host.settings,
            checker.unique_state_count(),
            checker.state_count(),
            checker.max_depth()
        );
        checker.assert_properties();
        states += checker.unique_state_count();
        transitions += checker.state_count();
        depth = depth.max(checker.max_depth());
    }
    println!("{states} states, {transitions} transitions, depth {depth}");
    held(&[("states", states), ("transitions", transitions), ("actions deep", depth)]);
}

#[test]
fn every_fault_is_found() {
    let mut missed = Vec::new();
    for fault in Fault::ALL {
        if let Some(rule) = broken_step(Some(fault)) {
            println!("{fault:?}: a single step breaks {rule:?}");
        } else if let Some((property, actions)) = discovery(fault, HasDiscoveries::Any) {
            println!("{fault:?}: not `{property}` after {actions} actions");
        } else {
            missed.push(fault);
        }
    }
    println!("{} faults, {} missed", Fault::ALL.len(), missed.len());
    assert!(missed.is_empty(), "never noticed: {missed:?}");
    held(&[("faults found", Fault::ALL.len())]);
}

#[test]
fn every_invariant_can_fail() {
    let named: Vec<&str> = properties().iter().map(|property| property.name).collect();
    let listed: Vec<&str> = BROKEN_BY.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, named, "each invariant has a fault that breaks it");
    for (name, fault) in BROKEN_BY {
        let found = discovery(fault, HasDiscoveries::AnyOf(BTreeSet::from([name])));
        let broken = found.unwrap_or_else(|| panic!("{fault:?} does not break `{name}`"));
        println!("`{name}` is broken by {fault:?} after {} actions", broken.1);
    }
    held(&[("invariants", BROKEN_BY.len())]);
}

/// The tests make one gate, which is reported by the last of them to hold.
fn held(counted: &[(&'static str, usize)]) {
    static ALL: Mutex<BTreeMap<&str, usize>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().expect("no test panics while it counts");
    all.extend(counted.iter().copied());
    let counts: Vec<_> = COUNTED.iter().filter_map(|what| Some((*what, *all.get(what)?))).collect();
    if counts.len() == COUNTED.len() {
        gates::report("model", &counts);
    }
}

const COUNTED: [&str; 6] =
    ["states", "transitions", "actions deep", "steps by the tables", "invariants", "faults found"];

/// The first invariant that a fault breaks in one of the worlds, and after how many actions.
fn discovery(fault: Fault, until: HasDiscoveries) -> Option<(&'static str, usize)> {
    worlds().into_iter().find_map(|host| {
        // Less is on its way than in the search: a fault that is there shows early.
        let host = Host { fault: Some(fault), mail: 1, ..host };
        let checker = host.checker().threads(1).finish_when(until.clone()).spawn_bfs().join();
        let wanted = |name: &&'static str| match &until {
            HasDiscoveries::AnyOf(names) => names.contains(name),
            _ => true,
        };
        let mut found = checker.discoveries().into_iter().filter(|(name, _)| wanted(name));
        found.next().map(|(name, path)| (name, path.into_actions().len()))
    })
}

/// Every invariant, in the order of the list, with a fault that breaks it.
const BROKEN_BY: [(&str, Fault); 24] = [
    ("ended states absorb", Fault::EndedIsCanceled),
    ("a rejected event changes nothing", Fault::RefusalLeavesTrace),
    ("the history is append-only", Fault::HistoryRewritten),
    ("each accepted reply is recorded once", Fault::ReplyForgotten),
    ("a reply is accepted only for the pending question", Fault::StaleReplyTaken),
    ("attempts never fall", Fault::RetryStartsOver),
    ("facts about others are absorbed", Fault::StaleTurnTaken),
    ("a question that is left is recorded", Fault::QuestionForgotten),
    ("a timer follows its question", Fault::TimerWithoutDeadline),
    ("the completion table", Fault::InvalidOutputCompletes),
    ("the table of waits", Fault::StrictDeadlineGoesOn),
    ("the deadline of a sticky wait is decided by the clock", Fault::LateReplyTaken),
    ("no turn is begun twice", Fault::BeginNotNoted),
    ("no turn is begun without its slot", Fault::DueNotAsked),
    ("auto never waits", Fault::AutoAsks),
    ("the questions are those resolved, in order, and one more exactly while waiting", Fault::QuestionNumberReused),
    ("attempts never pass max_attempt, and count the questions", Fault::RetryCounts),
    ("an error code exactly where a run failed or was cancelled", Fault::CodeForgotten),
    ("never two processes, and none without its slot", Fault::SlotBeforeProcess),
    ("at rest a slot is held exactly while running or waiting with a sticky process", Fault::SlotKeptOverWait),
    ("at rest a slot is asked for exactly while queued", Fault::OwedForgotten),
    ("at rest a timer is set exactly for a pending question that has a deadline", Fault::TimerForgotten),
    ("at rest the processes are those that the core believes in", Fault::ProcessLeftAlone),
    ("an end can be reached, and leaves nothing behind", Fault::DecidingTimerLeftArmed),
];

const BOUNDS: Bounds = Bounds { attempts: 2, retries: 1 };

/// The first rule that a step breaks, of all steps within the bounds.
fn broken_step(fault: Option<Fault>) -> Option<Rule> {
    all_settings().into_iter().find_map(|settings| {
        let walk = Walk::all(settings, BOUNDS, fault);
        let steps = walk.transitions.iter();
        steps.filter_map(|step| broken_by(&settings, &walk.states[step.from], step.event, &step.outcome)).next()
    })
}

/// Each profile and strictness, with and without retries; an auto run of each profile; and two runs that share the slot.
/// Wider bounds find the same: with a backlog of 4 and two attempts of both runs there are 2.7 million states.
fn worlds() -> Vec<Host> {
    let flags = [false, true];
    let mut worlds = Vec::new();
    for sticky in flags {
        let auto = Settings { interactive: false, sticky, retry: sticky, ..Settings::PLAIN };
        worlds.push(Host::of_one(auto));
        for (strict, retry) in flags.into_iter().flat_map(|strict| flags.map(|retry| (strict, retry))) {
            let max_attempt = retry.then_some(2);
            worlds.push(Host::of_one(Settings { sticky, strict, retry, max_attempt, ..Settings::PLAIN }));
        }
    }
    let [resumable, sticky] = flags.map(|sticky| Settings { sticky, strict: false, ..Settings::PLAIN });
    let retried = Settings { retry: true, ..resumable };
    worlds.extend([
        Host { attempts: 1, ..Host::of_two(resumable, resumable) },
        Host::of_two(resumable, sticky),
        Host { attempts: 1, ..Host::of_two(retried, Settings { sticky: true, ..retried }) },
    ]);
    worlds
}
