//! The world around the runs: what a host has of each of them, and who has the slot.

use std::collections::BTreeSet;

use crate::steps::Rule;
use crate::words::{Effect, Event, Run};

/// Everything there is at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// The runs, each with what the host has of it.
    pub jobs: Vec<Job>,
    /// Who has the one slot.
    pub holder: Option<Holder>,
    /// The first rule that a step has broken.
    pub broken: Option<Rule>,
}

/// Who has the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// A run of this host, by its place, and the id under which it has it.
    Job(usize, u8),
    /// Somebody who took it while this host was down.
    Stranger,
}

/// A run and what its host has of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Job {
    /// The run as it is saved.
    pub run: Run,
    /// The effects that are still to be performed, in order.
    pub todo: Vec<Todo>,
    /// The slots that were asked of the pool.
    pub requested: BTreeSet<u8>,
    /// The facts on their way to the run.
    pub mail: BTreeSet<Event>,
    /// The timers that are set, by their question.
    pub timers: BTreeSet<u8>,
    /// The processes that run.
    pub processes: Vec<Process>,
    /// The turn, by attempt and slot, that was last noted as begun. It is durable.
    pub noted: Option<(u8, u8)>,
    /// The turn that really was begun last: the model's knowledge, not the host's.
    pub begun: Option<(u8, u8)>,
    /// Whether a fact was lost since the host last looked at what it has.
    pub unsure: bool,
}

/// An effect that is to be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Todo {
    /// What is to be done.
    pub effect: Effect,
    /// Whether it was noted that it is begun.
    pub noted: bool,
}

/// An agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// The slot it was started in.
    pub slot: u8,
    /// The turn that it is in.
    pub attempt: u8,
    /// Whether the turn goes on; a sticky process waits between turns.
    pub busy: bool,
    /// Whether somebody else got its slot while the host was down.
    pub outlived: bool,
}

impl Job {
    /// A turn begins; it must be the first time, and the only process.
    pub(crate) fn begin(&mut self, attempt: u8, slot: u8) -> Option<Rule> {
        let again = self.begun == Some((attempt, slot));
        self.begun = Some((attempt, slot));
        again.then_some(Rule::TurnBegunTwice)
    }

    /// Whether nothing is on its way and nothing was lost.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.todo.is_empty() && self.mail.is_empty() && !self.unsure
    }
}
