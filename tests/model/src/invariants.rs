//! What must hold in every state of the world, and of every way to an end.

use stateright::Property;

use crate::host::Host;
use crate::hosting;
use crate::steps::Rule;
use crate::words::{Event, Phase, Resolution, Run, Settings, Status};
use crate::world::{Holder, Job, World};

/// Every invariant by its name.
#[must_use]
pub fn properties() -> Vec<Property<Host>> {
    let kept = |name, condition| Property::<Host>::always(name, condition);
    vec![
        kept("ended states absorb", |_, world| world.broken != Some(Rule::EndedAbsorbs)),
        kept("a rejected event changes nothing", |_, world| world.broken != Some(Rule::RejectedChangesNothing)),
        kept("the history is append-only", |_, world| world.broken != Some(Rule::HistoryAppendOnly)),
        kept("each accepted reply is recorded once", |_, world| world.broken != Some(Rule::ReplyRecordedOnce)),
        kept("a reply is accepted only for the pending question", |_, world| {
            world.broken != Some(Rule::ReplyOnlyForPending)
        }),
        kept("attempts never fall", |_, world| world.broken != Some(Rule::AttemptNeverFalls)),
        kept("facts about others are absorbed", |_, world| world.broken != Some(Rule::OthersFactsAbsorbed)),
        kept("a question that is left is recorded", |_, world| world.broken != Some(Rule::QuestionResolvedOnce)),
        kept("a timer follows its question", |_, world| world.broken != Some(Rule::TimerFollowsQuestion)),
        kept("the completion table", |_, world| world.broken != Some(Rule::CompletionTable)),
        kept("the table of waits", |_, world| world.broken != Some(Rule::WaitTable)),
        kept("the deadline of a sticky wait is decided by the clock", |_, world| {
            world.broken != Some(Rule::DeadlineByClock)
        }),
        kept("no turn is begun twice", |_, world| world.broken != Some(Rule::TurnBegunTwice)),
        kept("no turn is begun without its slot", |_, world| world.broken != Some(Rule::TurnWithoutSlot)),
        kept("auto never waits", |host, world| {
            each(host, world, |settings, job| settings.interactive || job.run.status() != Status::WaitingUser)
        }),
        kept("the questions are those resolved, in order, and one more exactly while waiting", |host, world| {
            each(host, world, |_, job| questions_are_in_order(&job.run))
        }),
        kept("attempts never pass max_attempt, and count the questions", |host, world| {
            each(host, world, |settings, job| attempts_count_questions(settings, &job.run))
        }),
        kept("an error code exactly where a run failed or was cancelled", |host, world| {
            each(host, world, |_, job| match job.run.phase {
                Phase::Ended { status: Status::Succeeded, code, .. } => code.is_none(),
                Phase::Ended { code, soft, .. } => code.is_some() && !soft,
                _ => true,
            })
        }),
        kept("never two processes, and none without its slot", |_, world| processes_have_slots(world)),
        kept("at rest a slot is held exactly while running or waiting with a sticky process", |host, world| {
            at_rest(host, world, |settings, index, job| {
                let keeps = hosting::keep(settings, &job.run).process;
                held_by(world, index) == keeps
            })
        }),
        kept("at rest a slot is asked for exactly while queued", |host, world| {
            at_rest(host, world, |_, _, job| {
                let asked = job.run.slot().filter(|_| job.run.status() == Status::Queued);
                job.requested.iter().copied().eq(asked)
            })
        }),
        kept("at rest a timer is set exactly for a pending question that has a deadline", |host, world| {
            at_rest(host, world, |settings, _, job| {
                job.timers.iter().copied().eq(job.run.pending().filter(|_| settings.has_deadline()))
            })
        }),
        kept("at rest the processes are those that the core believes in", |host, world| {
            at_rest(host, world, |settings, _, job| {
                job.processes.iter().map(|process| process.slot).eq(hosting::keep(settings, &job.run).process)
            })
        }),
        kept("an end can be reached, and leaves nothing behind", ends_cleanly),
    ]
}

fn each(host: &Host, world: &World, holds: fn(&Settings, &Job) -> bool) -> bool {
    host.settings.iter().zip(&world.jobs).all(|(settings, job)| holds(settings, job))
}

fn at_rest(host: &Host, world: &World, holds: impl Fn(&Settings, usize, &Job) -> bool) -> bool {
    let jobs = host.settings.iter().zip(&world.jobs).enumerate();
    jobs.filter(|(_, (_, job))| job.is_at_rest()).all(|(index, (settings, job))| holds(settings, index, job))
}

fn held_by(world: &World, index: usize) -> Option<u8> {
    match world.holder {
        Some(Holder::Job(holder, slot)) if holder == index => Some(slot),
        _ => None,
    }
}

fn questions_are_in_order(run: &Run) -> bool {
    let resolved = run.history.iter().map(|record| record.question);
    resolved.chain(run.pending()).eq((1..).take(run.history.len() + usize::from(run.pending().is_some())))
}

fn attempts_count_questions(settings: &Settings, run: &Run) -> bool {
    let within = settings.max_attempt.is_none_or(|max| run.attempt() <= max);
    // A question that ends with the run begins no turn.
    let goes_on = |resolution| matches!(resolution, Resolution::UserReply { .. } | Resolution::AutoDecideTimeout);
    let answered = run.history.iter().filter(|record| goes_on(record.resolution)).count();
    within && usize::from(run.attempt()) == answered + 1
}

fn processes_have_slots(world: &World) -> bool {
    world.jobs.iter().enumerate().all(|(index, job)| {
        let has_slot = |slot| held_by(world, index) == Some(slot);
        // Who gets a slot while the host is down cannot be told to wait for the process in it.
        let rightful = job.processes.iter().all(|process| process.outlived || has_slot(process.slot));
        job.processes.len() <= 1 && rightful
    })
}

/// From here on nothing more goes wrong: every run is cancelled, and the host does what is left to do.
fn ends_cleanly(host: &Host, world: &World) -> bool {
    let mut world = world.clone();
    for index in 0..world.jobs.len() {
        host.tell(&mut world, index, Event::Cancel);
        while let Some(fact) = world.jobs[index].mail.pop_first() {
            host.tell(&mut world, index, fact);
        }
        while !world.jobs[index].todo.is_empty() {
            host.perform(&mut world, index);
        }
    }
    world.jobs.iter().enumerate().all(|(index, job)| {
        let has_nothing = job.requested.is_empty() && job.timers.is_empty() && job.processes.is_empty();
        job.run.has_ended() && has_nothing && held_by(&world, index).is_none()
    })
}
