//! Every transition of the lifecycle: in each state that can be reached, each event that makes a difference.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::faults::{self, Fault};
use crate::gate::{Report, Soft};
use crate::hosting;
use crate::replies::{Reply, Revision};
use crate::words::{Event, FOREIGN_SLOT, Late, Outcome, Run, Settings, Status};

/// How far a walk goes: what is beyond repeats what is within, with higher numbers.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The last turn that is looked at.
    pub attempts: u8,
    /// How many slots there are beyond the first one of each turn: retries.
    pub retries: u8,
}

/// The states of one setting and the way to each of them.
#[derive(Debug)]
pub struct Walk {
    /// What the runs were made with.
    pub settings: Settings,
    /// The mistake in the lifecycle, if it has one.
    pub fault: Option<Fault>,
    /// Every state, the first one first.
    pub states: Vec<Run>,
    /// The state before, and the event that led here; absent for the first.
    ways: Vec<Option<(usize, Event)>>,
    /// Every transition: from which state, by which event, to which state.
    pub transitions: Vec<Transition>,
}

/// One transition of the lifecycle.
#[derive(Debug)]
pub struct Transition {
    /// Where it starts.
    pub from: usize,
    /// What happens.
    pub event: Event,
    /// What comes of it.
    pub outcome: Outcome,
    /// Where it leads; absent if that is beyond the bounds.
    pub to: Option<usize>,
}

impl Walk {
    /// Breadth first, so that the way to each state is the shortest.
    #[must_use]
    pub fn all(settings: Settings, bounds: Bounds, fault: Option<Fault>) -> Walk {
        let first = Run::created();
        let mut walk = Walk { settings, fault, states: vec![first.clone()], ways: vec![None], transitions: Vec::new() };
        let mut known = HashMap::from([(first, 0)]);
        let mut open = VecDeque::from([0]);
        while let Some(from) = open.pop_front() {
            let run = walk.states[from].clone();
            for event in events(&settings, &run) {
                let outcome = faults::step(fault, &settings, &run, event);
                let within = outcome.run.attempt() <= bounds.attempts
                    && outcome.run.slots <= outcome.run.attempt() + bounds.retries;
                let to = within.then(|| {
                    *known.entry(outcome.run.clone()).or_insert_with(|| {
                        walk.states.push(outcome.run.clone());
                        walk.ways.push(Some((from, event)));
                        open.push_back(walk.states.len() - 1);
                        walk.states.len() - 1
                    })
                });
                walk.transitions.push(Transition { from, event, outcome, to });
            }
        }
        walk
    }

    /// The events that lead from the creation to a state.
    #[must_use]
    pub fn way_to(&self, state: usize) -> Vec<Event> {
        let mut events = Vec::new();
        let mut current = state;
        while let Some((before, event)) = self.ways[current] {
            events.push(event);
            current = before;
        }
        events.reverse();
        events
    }

    /// Whether the shortest way to a state ends with this transition.
    #[must_use]
    pub fn is_on_a_way(&self, transition: &Transition) -> bool {
        transition.to.is_some_and(|to| self.ways[to] == Some((transition.from, transition.event)))
    }

    /// The states from which no end can be reached, by events that `counts` lets pass.
    #[must_use]
    pub fn without_an_end(&self, counts: fn(&Event) -> bool) -> Vec<&Run> {
        let mut reaches: Vec<bool> = self.states.iter().map(Run::has_ended).collect();
        let mut grew = true;
        while grew {
            grew = false;
            for transition in self.transitions.iter().filter(|transition| counts(&transition.event)) {
                // What lies beyond the bounds is the same again, one turn later: it counts as one that goes on.
                let leads_on = transition.to.is_none_or(|to| reaches[to]);
                if leads_on && !reaches[transition.from] {
                    reaches[transition.from] = true;
                    grew = true;
                }
            }
        }
        self.states.iter().zip(reaches).filter(|(_, reaches)| !reaches).map(|(run, _)| run).collect()
    }
}

/// The combinations that a walk is made for: all that the arrows depend on, and the gates' own apart from them.
#[must_use]
pub fn all_settings() -> Vec<Settings> {
    let mut all = Vec::new();
    let flags = [false, true];
    for sticky in flags {
        for retry in flags {
            all.push(Settings { interactive: false, sticky, retry, ..Settings::PLAIN });
            for strict in flags {
                for max_attempt in [None, Some(2)] {
                    all.push(Settings { sticky, retry, strict, max_attempt, ..Settings::PLAIN });
                }
            }
        }
    }
    let gates = [Soft::UnlessAsking, Soft::Always, Soft::Never];
    for (soft, schema) in gates.into_iter().flat_map(|soft| flags.map(|schema| (soft, schema))) {
        let settings = Settings { soft, schema, max_attempt: Some(1), ..Settings::PLAIN };
        all.extend([settings, Settings { max_attempt: None, question_limit: Some(1), ..settings }]);
    }
    all.push(Settings { interactive: false, schema: false, ..Settings::PLAIN });
    all
}

/// Every event that could mean something to a run, and for each kind of id some that mean nothing.
#[must_use]
pub fn events(settings: &Settings, run: &Run) -> Vec<Event> {
    let mut all: Vec<Event> =
        (0..=run.slots + 1).chain([FOREIGN_SLOT]).map(|slot| Event::SlotGranted { slot }).collect();
    all.extend(reports_and_losses(settings, run));
    for question in 0..=next_question(run) + 1 {
        all.extend([false, true].map(|due| Event::TimerFired { question, due }));
        all.extend(replies(question).map(Event::Reply));
    }
    all.push(Event::Cancel);
    if settings.has_deadline() && run.pending().is_some() {
        all.extend(late(&all));
    }
    all
}

/// Everything that may come after the deadline and before its timer; one report of each turn is enough.
fn late(events: &[Event]) -> BTreeSet<Event> {
    let late = events.iter().filter_map(|event| match *event {
        Event::SlotGranted { slot } => Some(Late::SlotGranted { slot }),
        Event::TurnFinished { attempt, slot, .. } => Some(Late::TurnFinished { attempt, slot }),
        Event::Reply(reply) => Some(Late::Reply(reply)),
        Event::ProcessLost { attempt, slot } => Some(Late::ProcessLost { attempt, slot }),
        Event::Cancel => Some(Late::Cancel),
        // Whether a timer comes after the deadline it says itself.
        Event::TimerFired { .. } | Event::Late(_) => None,
    });
    late.map(Event::Late).collect()
}

fn reports_and_losses(settings: &Settings, run: &Run) -> Vec<Event> {
    let current = run.attempt();
    let own = hosting::keep(settings, run).process;
    let slots = BTreeSet::from([None, Some(0), own, Some(run.slots)]);
    let mut all = Vec::new();
    for attempt in current - 1..=current + 1 {
        for slot in &slots {
            all.push(Event::ProcessLost { attempt, slot: *slot });
            // All kinds of reports once; that a slot is named makes no difference to what they mean.
            let judged = attempt == current && slot.is_none() && run.status() == Status::Running;
            let reports = if judged { Report::all() } else { vec![Report::DONE] };
            all.extend(reports.into_iter().map(|report| Event::TurnFinished { attempt, slot: *slot, report }));
        }
    }
    all
}

/// The replies to one question that differ in what the table looks at.
fn replies(question: u8) -> impl Iterator<Item = Reply> {
    let plain = Reply::to(question);
    let keyed = Reply { key: Some(1), ..plain };
    [
        plain,
        Reply { revision: Revision::Current, ..plain },
        Reply { revision: Revision::Another, ..plain },
        keyed,
        Reply { answer: 1, ..keyed },
        Reply { revision: Revision::Another, ..keyed },
    ]
    .into_iter()
}

fn next_question(run: &Run) -> u8 {
    u8::try_from(run.history.len()).unwrap_or(u8::MAX) + 1
}
