//! What a host does: it saves a run with every event, then performs its effects one by one, and goes on after a crash.
//!
//! It does what the spec tells it to do, and nothing more.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::faults::{self, Fault};
use crate::gate::Report;
use crate::hosting::{self, Found};
use crate::steps::{self, Rule};
use crate::words::{Effect, Event, Run, Settings};
use crate::world::{Holder, Process, Todo, World};

/// What there is to search.
#[derive(Clone, Debug)]
pub struct Host {
    /// The settings of each run; together they have one slot.
    pub settings: Vec<Settings>,
    /// How turns end.
    pub reports: Vec<Report>,
    /// Whether facts also come that nobody sent, and facts that were sent come again or never.
    pub hostile: bool,
    /// The last attempt that is looked at.
    pub attempts: u8,
    /// The last slot that is looked at.
    pub slots: u8,
    /// How many effects may wait to be performed.
    pub backlog: usize,
    /// How many facts may be on their way to one run.
    pub mail: usize,
    /// The mistake in the design, if it has one.
    pub fault: Option<Fault>,
}

/// What a crash of the host takes with it beside everything in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The processes die.
    pub processes: bool,
    /// What becomes of the pool.
    pub pool: Pool,
}

/// What becomes of the pool when the host crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// It is durable.
    Kept,
    /// It forgets all.
    Forgotten,
    /// It forgets all, and somebody else takes the slot.
    Taken,
}

impl Host {
    /// A hostile world of one run.
    #[must_use]
    pub fn of_one(settings: Settings) -> Host {
        let reports = vec![Report::DONE, Report::QUESTION, Report::SOFT, Report::DONE_INVALID];
        let slots = if settings.sticky { 2 } else { 3 };
        Host { settings: vec![settings], reports, hostile: true, attempts: 2, slots, backlog: 3, mail: 2, fault: None }
    }

    /// A world of two runs that share the slot. What matters here is the order of things, and the crashes.
    #[must_use]
    pub fn of_two(first: Settings, second: Settings) -> Host {
        let (settings, reports) = (vec![first, second], vec![Report::DONE, Report::QUESTION]);
        Host { settings, reports, hostile: false, attempts: 2, slots: 2, backlog: 3, mail: 1, fault: None }
    }

    /// Tells a run something, checks what it answers, and takes on the effects.
    pub fn tell(&self, world: &mut World, index: usize, event: Event) {
        let settings = &self.settings[index];
        let job = &mut world.jobs[index];
        let outcome = faults::step(self.fault, settings, &job.run, event);
        world.broken = world.broken.or_else(|| steps::broken_by(settings, &job.run, event, &outcome));
        job.todo.extend(outcome.effects.iter().map(|effect| Todo { effect: *effect, noted: false }));
        job.run = outcome.run;
    }

    /// Most of what is forged is absorbed: that is checked without making a new world.
    pub(crate) fn leaves_no_trace(&self, run: &Run, index: usize, event: Event) -> bool {
        let outcome = faults::step(self.fault, &self.settings[index], run, event);
        let is_broken = steps::broken_by(&self.settings[index], run, event, &outcome).is_some();
        !is_broken && outcome.effects.is_empty() && outcome.run == *run
    }

    /// Performs the next effect of a run, or notes that it is begun.
    pub fn perform(&self, world: &mut World, index: usize) {
        let job = &mut world.jobs[index];
        let Some(todo) = job.todo.first_mut() else { return };
        let effect = todo.effect;
        let is_due = self.fault == Some(Fault::DueNotAsked) || hosting::is_due(&self.settings[index], &job.run, effect);
        if let (true, Effect::StartTurn { attempt, slot, .. } | Effect::InjectReply { attempt, slot, .. }) =
            (is_due, effect)
            && !todo.noted
            && job.noted != Some((attempt, slot))
            && self.fault != Some(Fault::BeginNotNoted)
        {
            todo.noted = true;
            job.noted = Some((attempt, slot));
            return;
        }
        let is_ours_to_begin = todo.noted || self.fault == Some(Fault::BeginNotNoted);
        job.todo.remove(0);
        if !is_due {
            return;
        }
        match effect {
            // A slot that is held already is granted again: the first grant may have been lost.
            Effect::AcquireSlot { slot } if world.holder == Some(Holder::Job(index, slot)) => {
                job.mail.insert(Event::SlotGranted { slot });
            }
            Effect::AcquireSlot { slot } => {
                job.requested.insert(slot);
            }
            Effect::ReleaseSlot { slot } => {
                job.requested.remove(&slot);
                world.holder.take_if(|holder| *holder == Holder::Job(index, slot));
            }
            Effect::StartTurn { attempt, slot, .. } if is_ours_to_begin => {
                let has_slot = world.holder == Some(Holder::Job(index, slot));
                let is_wrong = job.begin(attempt, slot).or((!has_slot).then_some(Rule::TurnWithoutSlot));
                world.broken = world.broken.or(is_wrong);
                job.processes.push(Process { slot, attempt, busy: true, outlived: false });
            }
            Effect::InjectReply { attempt, slot, .. } => {
                // A process takes the same reply once, and one that is gone takes none; that it is gone is told by itself.
                let is_news = |process: &Process| process.slot == slot && process.attempt != attempt;
                if job.processes.iter().any(is_news) {
                    world.broken = world.broken.or(job.begin(attempt, slot));
                }
                for process in job.processes.iter_mut().filter(|process| is_news(process)) {
                    (process.attempt, process.busy) = (attempt, true);
                }
            }
            // Somebody has begun it before: the effect was told a second time after a crash.
            Effect::StartTurn { .. } => {}
            Effect::TerminateProcess { slot, .. } => job.processes.retain(|process| process.slot != slot),
            Effect::SetTimer { question } => {
                job.timers.insert(question);
            }
            Effect::CancelTimer { question } => {
                job.timers.remove(&question);
            }
        }
    }

    /// HOST-9: the host holds again what runs held, gives back what no run keeps, and asks each how to go on.
    pub(crate) fn restart(&self, world: &mut World, indices: Range<usize>) {
        for index in indices.clone() {
            let keep = hosting::keep(&self.settings[index], &world.jobs[index].run);
            if let (Some(slot), None, false) =
                (keep.process, world.holder, self.fault == Some(Fault::SlotsNotHeldAgain))
            {
                world.holder = Some(Holder::Job(index, slot));
            }
        }
        for index in indices {
            let job = &mut world.jobs[index];
            let keep = hosting::keep(&self.settings[index], &job.run);
            if self.fault != Some(Fault::NothingGivenBack) {
                job.processes.retain(|process| Some(process.slot) == keep.process);
                job.requested.retain(|slot| Some(*slot) == keep.slot);
                job.timers.retain(|question| Some(*question) == keep.timer);
                world.holder.take_if(
                    |holder| matches!(holder, Holder::Job(of, slot) if *of == index && Some(*slot) != keep.slot),
                );
            }
            // If only the core was away, what a process has said before it went is still heard.
            let lives = |slot| job.processes.iter().any(|process| process.slot == slot);
            let is_heard = |slot| job.mail.iter().any(|fact| comes_from(fact, slot));
            let found = Found {
                process_alive: keep.process.is_some_and(|slot| lives(slot) || is_heard(slot)),
                begun: keep.slot.is_some_and(|slot| job.noted == Some((job.run.attempt(), slot))),
                slot_lost: keep.process.is_some_and(|slot| world.holder != Some(Holder::Job(index, slot))),
            };
            // Who goes by what is heard has not looked: that the process has died since may have been lost.
            job.unsure &= keep.process.is_some_and(|slot| !lives(slot) && is_heard(slot));
            let resumption = hosting::after_restart(&self.settings[index], &job.run, found);
            if self.fault != Some(Fault::OwedForgotten) {
                job.todo.extend(resumption.effects.into_iter().map(|effect| Todo { effect, noted: false }));
            }
            if let Some(event) = resumption.event {
                self.tell(world, index, event);
            }
        }
    }

    pub(crate) fn crash(&self, world: &mut World, loss: Loss) {
        for job in &mut world.jobs {
            (job.todo, job.mail, job.timers) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
            if loss.processes {
                job.processes.clear();
            }
            if loss.pool != Pool::Kept {
                job.requested.clear();
            }
            if loss.pool == Pool::Taken {
                job.processes.iter_mut().for_each(|process| process.outlived = true);
            }
        }
        match loss.pool {
            Pool::Kept => {}
            Pool::Forgotten => world.holder = world.holder.filter(|holder| *holder == Holder::Stranger),
            Pool::Taken => world.holder = Some(Holder::Stranger),
        }
        self.restart(world, 0..world.jobs.len());
    }
}

fn comes_from(fact: &Event, process: u8) -> bool {
    matches!(fact, Event::TurnFinished { slot, .. } | Event::ProcessLost { slot, .. } if *slot == Some(process))
}
