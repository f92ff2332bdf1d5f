//! The smallest host there can be: it does what it is told, remembers what it has, and can crash.

use std::collections::{BTreeMap, BTreeSet};

use turnlatch::hosting::{Perform, RecoveryFacts};
use turnlatch::{Action, Effect, Event, Profile, Run, Status, Timestamp};

/// A host of one run. A fault of the core that only a host can notice makes it panic.
#[derive(Clone, Debug)]
pub struct TinyHost {
    sticky: bool,
    requested: BTreeSet<String>,
    held: BTreeSet<String>,
    timers: BTreeMap<u64, Timestamp>,
    process: Option<Process>,
    /// Effects that were performed: the durable log by which a second performance is noticed.
    performed: BTreeSet<String>,
    /// Every turn that was started, for ever.
    started: BTreeSet<(u32, String)>,
    /// Every answer that reached an agent.
    delivered: BTreeSet<u64>,
    has_crashed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    attempt_number: u32,
    slot_id: String,
}

/// What a crash takes with it. Timers are always lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The agent's process dies with the host.
    pub process: bool,
    /// The pool forgets what this run asked for and holds.
    pub slots: bool,
}

impl TinyHost {
    /// A host with nothing on its hands.
    #[must_use]
    pub fn new(run: &Run) -> TinyHost {
        TinyHost {
            sticky: run.plan().profile == Profile::StickyProcess,
            requested: BTreeSet::new(),
            held: BTreeSet::new(),
            timers: BTreeMap::new(),
            process: None,
            performed: BTreeSet::new(),
            started: BTreeSet::new(),
            delivered: BTreeSet::new(),
            has_crashed: false,
        }
    }

    /// What an event says about the host's own world. Told before the effects of the event.
    pub fn notice(&mut self, event: &Event) {
        match event {
            // The pool gives whatever it likes; what the run does not want must come back.
            Event::SlotGranted { slot_id } => {
                self.requested.remove(slot_id);
                self.held.insert(slot_id.clone());
            }
            Event::TurnFinished(report) => {
                let reporter = self.process.as_ref().is_some_and(|process| {
                    process.attempt_number == report.attempt_number
                        && report.slot_id.as_ref().is_none_or(|slot_id| *slot_id == process.slot_id)
                });
                // Without a sticky profile a finished turn is an exited process.
                if reporter && !self.sticky {
                    self.process = None;
                }
            }
            Event::TimerFired { interaction_id } => {
                self.timers.remove(interaction_id);
            }
            _ => {}
        }
    }

    /// Performs the effects of one event, and asks right before each whether it still is to be performed (HOST-7).
    ///
    /// # Panics
    /// If an effect makes no sense for what the host has, or if one is overtaken that no event can have overtaken.
    pub fn perform_due(&mut self, run: &Run, effects: &[Effect]) {
        for effect in effects {
            if run.due(effect, &[]).perform == Perform::Now {
                self.perform(effect);
            } else {
                // A deadline that is applied first hands a decision over, and the event after it may be that the process is
                // lost (TIME-4).
                let hands_over = matches!(effect.action, Action::InjectReply { .. });
                assert!(hands_over, "{effect:?} is not due");
            }
        }
    }

    /// Does what it is told.
    ///
    /// # Panics
    /// If it is told something that makes no sense for what it has.
    pub fn perform(&mut self, effect: &Effect) {
        let is_new = self.performed.insert(effect.id.clone());
        assert!(is_new, "two effects with the id {}", effect.id);
        match &effect.action {
            Action::AcquireSlot { slot_id } => {
                let idle = self.held.is_empty() && self.requested.is_empty();
                assert!(idle, "asks for {slot_id} and has {:?} {:?}", self.held, self.requested);
                self.requested.insert(slot_id.clone());
            }
            Action::ReleaseSlot { slot_id } => {
                let had = self.held.remove(slot_id) | self.requested.remove(slot_id);
                assert!(had || self.has_crashed, "gives {slot_id} back and never had it");
                let in_use = self.process.as_ref().is_some_and(|process| process.slot_id == *slot_id);
                assert!(!in_use, "gives {slot_id} back while its process runs");
            }
            Action::StartTurn { attempt_number, slot_id, resume } => {
                self.start(*attempt_number, slot_id, resume.as_ref().map(|resume| resume.interaction_id));
            }
            Action::InjectReply { attempt_number, interaction_id, .. } => self.inject(*attempt_number, *interaction_id),
            Action::TerminateProcess { slot_id, .. } => {
                // The slot names it: a reply that was never handed over has not brought it into the next turn.
                let is_ours = self.process.as_ref().is_none_or(|process| process.slot_id == *slot_id);
                assert!(is_ours, "ends the process in {slot_id} and has {:?}", self.process);
                self.process = None;
            }
            Action::SetTimer { interaction_id, at } => {
                self.timers.insert(*interaction_id, *at);
            }
            Action::CancelTimer { interaction_id } => {
                self.timers.remove(interaction_id);
            }
            Action::Notify { .. } => {}
        }
    }

    fn start(&mut self, attempt_number: u32, slot_id: &str, answers: Option<u64>) {
        assert_eq!(self.process, None, "never two processes");
        assert!(self.held.contains(slot_id), "attempt {attempt_number} starts without its slot {slot_id}");
        let is_new = self.started.insert((attempt_number, slot_id.to_owned()));
        assert!(is_new, "attempt {attempt_number} in {slot_id} starts twice");
        self.delivered.extend(answers);
        self.process = Some(Process { attempt_number, slot_id: slot_id.to_owned() });
    }

    fn inject(&mut self, attempt_number: u32, interaction_id: u64) {
        let is_new = self.delivered.insert(interaction_id);
        assert!(is_new, "the answer to {interaction_id} is injected twice");
        let process = self.process.as_mut().expect("a process that waits for the answer");
        assert_eq!(process.attempt_number + 1, attempt_number, "the answer is for the turn before");
        process.attempt_number = attempt_number;
        let is_new = self.started.insert((attempt_number, process.slot_id.clone()));
        assert!(is_new, "attempt {attempt_number} begins twice");
    }

    /// Whether the host has exactly what the core believes it has: no more, no less.
    ///
    /// # Panics
    /// If it has not.
    pub fn assert_agrees_with(&self, run: &Run) {
        let keep = run.outstanding().keep;
        let slot: BTreeSet<String> = keep.slot_id.into_iter().collect();
        let (held, requested) =
            if run.status() == Status::Queued { (BTreeSet::new(), slot) } else { (slot, BTreeSet::new()) };
        assert_eq!(self.held, held, "slots held while {}", run.status().as_str());
        assert_eq!(self.requested, requested, "slots asked for while {}", run.status().as_str());
        let deadline = run.pending().and_then(|pending| pending.deadline_at);
        let timers: BTreeMap<u64, Timestamp> = keep.timer.zip(deadline).into_iter().collect();
        assert_eq!(self.timers, timers, "timers while {}", run.status().as_str());
        let process = self.process.as_ref().map(|process| process.slot_id.clone());
        assert_eq!(process, keep.process, "the process while {}", run.status().as_str());
        if run.status().is_end() {
            assert!(self.held.is_empty() && self.timers.is_empty() && self.process.is_none(), "an end leaves nothing");
        }
    }

    /// The answers that reached an agent, by the question's id.
    #[must_use]
    pub fn delivered(&self) -> &BTreeSet<u64> {
        &self.delivered
    }

    /// Loses what lives in memory. What was asked of the pool and the log of effects are durable, unless lost too.
    pub fn crash(&mut self, loss: Loss) {
        self.has_crashed = true;
        self.timers.clear();
        if loss.process {
            self.process = None;
        }
        if loss.slots {
            self.held.clear();
            self.requested.clear();
        }
    }

    /// After a crash: gives back what is not kept, performs what is owed, and returns what the run must be told.
    #[must_use]
    pub fn recover(&mut self, run: &Run) -> Vec<Event> {
        let outstanding = run.outstanding();
        let keep = outstanding.keep;
        self.held.retain(|slot_id| Some(slot_id) == keep.slot_id.as_ref());
        self.requested.retain(|slot_id| Some(slot_id) == keep.slot_id.as_ref());
        self.timers.retain(|interaction_id, _| Some(*interaction_id) == keep.timer);
        self.process.take_if(|process| Some(&process.slot_id) != keep.process.as_ref());
        let found = RecoveryFacts {
            process_alive: self.process.is_some(),
            begun: outstanding.turn_effect_id.is_some_and(|id| self.performed.contains(&id)),
            // A slot the pool has forgotten may be somebody else's by now.
            slot_lost: keep.process.is_some() && self.held.is_empty(),
        };
        let resumption = run.after_restart(found);
        let mut facts = Vec::from_iter(resumption.event);
        for effect in &resumption.effects {
            match &effect.action {
                Action::AcquireSlot { slot_id } if self.held.contains(slot_id) => {
                    facts.push(Event::SlotGranted { slot_id: slot_id.clone() });
                }
                Action::AcquireSlot { slot_id } => {
                    self.requested.insert(slot_id.clone());
                }
                Action::SetTimer { interaction_id, at } => {
                    self.timers.insert(*interaction_id, *at);
                }
                // A living process takes the same reply once (HOST-9).
                Action::InjectReply { .. } if self.performed.contains(&effect.id) => {}
                _ => {
                    self.perform(effect);
                    continue;
                }
            }
            self.performed.insert(effect.id.clone());
        }
        facts
    }
}
