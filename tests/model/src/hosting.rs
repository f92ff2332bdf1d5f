//! What a host asks of a run: what it keeps, whether an effect is still due, and how to go on after a restart
//! (HOST-2, HOST-7 and HOST-9).

use crate::words::{Begin, Effect, Event, Phase, Run, Settings};

/// What a run may still own; everything else of it is to be given back or ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The slot asked for or held.
    pub slot: Option<u8>,
    /// The question whose timer is armed.
    pub timer: Option<u8>,
    /// The slot of the process.
    pub process: Option<u8>,
}

/// What a host finds after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The run's process is there.
    pub process_alive: bool,
    /// The turn was noted as begun.
    pub begun: bool,
    /// Somebody else may have the slot by now.
    pub slot_lost: bool,
}

/// How a host goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumption {
    /// The slot of the process to listen to again.
    pub attach: Option<u8>,
    /// What to perform.
    pub effects: Vec<Effect>,
    /// What to tell the run.
    pub event: Option<Event>,
}

/// HOST-2.
#[must_use]
pub fn keep(settings: &Settings, run: &Run) -> Keep {
    let slot = run.slot();
    match run.phase {
        Phase::Queued { .. } => Keep { slot, ..Keep::default() },
        Phase::Running { .. } => Keep { slot, process: slot, timer: None },
        Phase::Waiting { question, .. } => {
            Keep { slot, process: slot, timer: settings.has_deadline().then_some(question) }
        }
        Phase::Ended { .. } => Keep::default(),
    }
}

/// HOST-2: the effects still owed, but for the one that begins a turn, which may have happened ([`begin`]).
#[must_use]
pub fn outstanding(settings: &Settings, run: &Run) -> Vec<Effect> {
    match run.phase {
        Phase::Queued { slot, .. } => vec![Effect::AcquireSlot { slot }],
        Phase::Waiting { question, .. } if settings.has_deadline() => vec![Effect::SetTimer { question }],
        Phase::Running { .. } | Phase::Waiting { .. } | Phase::Ended { .. } => Vec::new(),
    }
}

/// The effect that begins the turn under way.
#[must_use]
pub fn begin(run: &Run) -> Option<Effect> {
    let Phase::Running { slot, attempt, begun_by } = run.phase else { return None };
    let question = run.history.last().map(|record| record.question);
    Some(match (begun_by, question) {
        (Begin::Inject, Some(question)) => Effect::InjectReply { attempt, slot, question },
        (_, answers) => Effect::StartTurn { attempt, slot, answers: answers.filter(|_| attempt > 1) },
    })
}

/// HOST-7: whether an effect is still to be performed.
#[must_use]
pub fn is_due(settings: &Settings, run: &Run, effect: Effect) -> bool {
    let keep = keep(settings, run);
    match effect {
        Effect::AcquireSlot { slot } => matches!(run.phase, Phase::Queued { slot: asked, .. } if asked == slot),
        Effect::ReleaseSlot { slot } => keep.slot != Some(slot),
        Effect::StartTurn { .. } | Effect::InjectReply { .. } => begin(run) == Some(effect),
        Effect::TerminateProcess { slot, .. } => keep.process != Some(slot),
        Effect::SetTimer { question } => keep.timer == Some(question),
        Effect::CancelTimer { question } => keep.timer != Some(question),
    }
}

/// HOST-9.
#[must_use]
pub fn after_restart(settings: &Settings, run: &Run, found: Found) -> Resumption {
    let Some(process) = keep(settings, run).process else {
        return Resumption { effects: outstanding(settings, run), ..Resumption::default() };
    };
    // A turn that was never begun needs no process, unless it goes on in the one that waited for its reply.
    let starts_anew = matches!(run.phase, Phase::Running { begun_by: Begin::Start, .. }) && !found.begun;
    if found.slot_lost || !(found.process_alive || starts_anew) {
        let event = Event::ProcessLost { attempt: run.attempt(), slot: Some(process) };
        return Resumption { event: Some(event), ..Resumption::default() };
    }
    // A reply is given again to a process that lives, which is heard by that.
    let (effects, is_heard) = match run.phase {
        Phase::Running { begun_by: Begin::Start, .. } if found.begun => (Vec::new(), false),
        Phase::Running { begun_by, .. } => (Vec::from_iter(begin(run)), begun_by == Begin::Inject),
        _ => (outstanding(settings, run), false),
    };
    Resumption { attach: (found.process_alive && !is_heard).then_some(process), effects, event: None }
}
