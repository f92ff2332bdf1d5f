//! What can happen next to one or two runs with one slot, when everything goes wrong that can.
//!
//! Between any two effects the host or the core may crash. Facts are on their way for as long as they like: they come in
//! any order, twice, or never, and some come that nobody sent.

use std::collections::BTreeSet;

use stateright::{Model, Property};

use crate::gate::Report;
use crate::host::{Host, Loss, Pool};
use crate::hosting;
use crate::invariants;
use crate::replies::Reply;
use crate::words::{Effect, Event, FOREIGN_SLOT, Late, Run, Status};
use crate::world::{Holder, Job, Process, Todo, World};

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The host performs the next effect of a run, or notes that it begins it.
    Perform(usize),
    /// The pool grants a request.
    Grant(usize, u8),
    /// A fact arrives; the flag says whether it will come again.
    Deliver(usize, Event, bool),
    /// A fact never arrives.
    Lose(usize, Event),
    /// A process ends its turn.
    EndTurn(usize, Report),
    /// A process dies.
    Die(usize),
    /// A timer fires.
    Fire(usize, u8),
    /// Somebody asks for something, or a fact comes that nobody sent.
    Tell(usize, Event),
    /// The core crashes alone, with the effects that it had told or without them, and is loaded again.
    CrashCore(usize, Backlog),
    /// The whole host crashes, and starts again.
    Crash(Loss),
    /// The stranger gives the slot back.
    StrangerLeaves,
}

/// What becomes of effects that were told before the core crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backlog {
    /// They are performed all the same.
    Kept,
    /// They are lost.
    Lost,
}

impl Model for Host {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let todo = vec![Todo { effect: Effect::AcquireSlot { slot: 1 }, noted: false }];
        let job = Job {
            run: Run::created(),
            todo,
            requested: BTreeSet::new(),
            mail: BTreeSet::new(),
            timers: BTreeSet::new(),
            processes: Vec::new(),
            noted: None,
            begun: None,
            unsure: false,
        };
        vec![World { jobs: vec![job; self.settings.len()], holder: None, broken: None }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (index, job) in world.jobs.iter().enumerate() {
            actions.extend((!job.todo.is_empty()).then_some(Action::Perform(index)));
            if world.holder.is_none() {
                actions.extend(job.requested.iter().map(|slot| Action::Grant(index, *slot)));
            }
            for fact in &job.mail {
                actions.push(Action::Deliver(index, *fact, false));
                if let Event::TimerFired { question, .. } = *fact {
                    actions.push(Action::Deliver(index, Event::TimerFired { question, due: true }, false));
                }
                actions.extend(self.late(index, job, *fact).map(|late| Action::Deliver(index, late, false)));
                if self.hostile {
                    actions.extend([Action::Deliver(index, *fact, true), Action::Lose(index, *fact)]);
                }
            }
            if job.processes.iter().any(|process| process.busy) {
                actions.extend(self.reports.iter().map(|report| Action::EndTurn(index, *report)));
            }
            actions.extend((!job.processes.is_empty()).then_some(Action::Die(index)));
            actions.extend(job.timers.iter().map(|question| Action::Fire(index, *question)));
            for request in Host::requests(job) {
                actions.push(Action::Tell(index, request));
                actions.extend(self.late(index, job, request).map(|late| Action::Tell(index, late)));
            }
            if self.hostile {
                actions.extend(self.forged(job, index).into_iter().map(|event| Action::Tell(index, event)));
            }
            actions.extend([Action::CrashCore(index, Backlog::Kept), Action::CrashCore(index, Backlog::Lost)]);
        }
        // Nobody can take from the runs of this host what none of them has.
        let is_ours = matches!(world.holder, Some(Holder::Job(..)));
        for pool in
            [Pool::Kept, Pool::Forgotten, Pool::Taken].into_iter().filter(|pool| *pool != Pool::Taken || is_ours)
        {
            actions.extend([false, true].map(|processes| Action::Crash(Loss { processes, pool })));
        }
        actions.extend((world.holder == Some(Holder::Stranger)).then_some(Action::StrangerLeaves));
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        if let Action::Tell(index, event) = action
            && self.leaves_no_trace(&last.jobs[index].run, index, event)
        {
            return None;
        }
        let mut world = last.clone();
        match action {
            Action::Perform(index) => self.perform(&mut world, index),
            Action::Grant(index, slot) => {
                world.jobs[index].requested.remove(&slot);
                world.jobs[index].mail.insert(Event::SlotGranted { slot });
                world.holder = Some(Holder::Job(index, slot));
            }
            Action::Deliver(index, fact, comes_again) => {
                if !comes_again {
                    world.jobs[index].mail.remove(&as_sent(fact));
                }
                self.tell(&mut world, index, fact);
            }
            Action::Lose(index, fact) => {
                world.jobs[index].mail.remove(&fact);
                world.jobs[index].unsure = true;
            }
            Action::EndTurn(index, report) => {
                let sticky = self.settings[index].sticky;
                let job = &mut world.jobs[index];
                let place = job.processes.iter().position(|process| process.busy)?;
                let Process { slot, attempt, .. } = job.processes[place];
                job.mail.insert(Event::TurnFinished { attempt, slot: Some(slot), report });
                job.processes[place].busy = false;
                // Without a sticky profile a finished turn is an exited process.
                if !sticky {
                    job.processes.remove(place);
                }
            }
            Action::Die(index) => {
                let Process { slot, attempt, .. } = world.jobs[index].processes.pop()?;
                world.jobs[index].mail.insert(Event::ProcessLost { attempt, slot: Some(slot) });
            }
            Action::Fire(index, question) => {
                world.jobs[index].timers.remove(&question);
                world.jobs[index].mail.insert(Event::TimerFired { question, due: false });
            }
            Action::Tell(index, event) => self.tell(&mut world, index, event),
            Action::CrashCore(index, backlog) => {
                if backlog == Backlog::Lost {
                    world.jobs[index].todo.clear();
                }
                self.restart(&mut world, index..index + 1);
            }
            Action::Crash(loss) => self.crash(&mut world, loss),
            Action::StrangerLeaves => world.holder = None,
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Host>> {
        invariants::properties()
    }

    fn within_boundary(&self, world: &World) -> bool {
        let within = |job: &Job| {
            job.run.attempt() <= self.attempts
                && job.run.slots <= self.slots
                && job.todo.len() <= self.backlog
                && job.mail.len() <= self.mail
        };
        world.jobs.iter().all(within)
    }
}

/// A fact is sent without the time at which it arrives.
fn as_sent(fact: Event) -> Event {
    match fact {
        Event::TimerFired { question, .. } => Event::TimerFired { question, due: false },
        Event::Late(late) => late.into(),
        other => other,
    }
}

impl Host {
    /// Facts that nobody sent, or that come again long after they were true. None of them is about what the run waits
    /// for now, but the timer: it may lie, because the clock decides.
    fn forged(&self, job: &Job, index: usize) -> Vec<Event> {
        let (run, settings) = (&job.run, &self.settings[index]);
        let is_granted = run.status() != Status::Queued;
        // A slot that goes back at once only stands in the way of what else is to be performed: once is enough.
        let slots = (1..=run.slots).chain([FOREIGN_SLOT]).filter(|_| job.todo.is_empty());
        let slots = slots.filter(|slot| is_granted || run.slot() != Some(*slot));
        let mut all: Vec<Event> = slots.map(|slot| Event::SlotGranted { slot }).collect();
        for attempt in [run.attempt() - 1, run.attempt() + 1] {
            all.push(Event::TurnFinished { attempt, slot: None, report: Report::DONE });
            all.push(Event::ProcessLost { attempt, slot: None });
        }
        let current = hosting::keep(settings, run).process;
        for slot in (0..=run.slots).filter(|slot| Some(*slot) != current) {
            all.push(Event::TurnFinished { attempt: run.attempt(), slot: Some(slot), report: Report::QUESTION });
            all.push(Event::ProcessLost { attempt: run.attempt(), slot: Some(slot) });
        }
        for question in 0..=u8::try_from(run.history.len()).unwrap_or(u8::MAX) + 2 {
            all.extend([true, false].map(|due| Event::TimerFired { question, due }));
        }
        all
    }

    /// The same event after the deadline of the pending question, if that makes a difference.
    fn late(&self, index: usize, job: &Job, event: Event) -> Option<Event> {
        let waits_with_process = self.settings[index].sticky && job.run.pending().is_some();
        let late = match event {
            Event::Reply(reply) => Late::Reply(reply),
            Event::ProcessLost { attempt, slot } => Late::ProcessLost { attempt, slot },
            Event::Cancel => Late::Cancel,
            _ => return None,
        };
        waits_with_process.then_some(Event::Late(late))
    }

    fn requests(job: &Job) -> Vec<Event> {
        let asked = u8::try_from(job.run.history.len()).unwrap_or(u8::MAX) + 1;
        let mut all: Vec<Event> = (1..=asked + 1).map(|question| Event::Reply(Reply::to(question))).collect();
        all.push(Event::Cancel);
        all
    }
}
