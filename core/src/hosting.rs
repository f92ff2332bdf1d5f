//! What hosts ask beside the effects themselves: whether one is still to be performed, what to do with one that keeps
//! failing, how to continue after a restart, and how to report a turn whose report cannot be read (HOST-7 to HOST-10).

pub(crate) mod job;

use serde::{Deserialize, Serialize};

use crate::admission::is_run_id;
use crate::lifecycle::run::Run;
use crate::types::codes::Code;
use crate::types::effect::{Action, Effect};
use crate::types::event::{Event, TurnReport};
pub use job::{Job, RequestKind, read_job, request_event};

/// Whether an effect is to be performed, asked right before it would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct EffectStatus {
    /// When.
    pub perform: Perform,
    /// It must not happen twice: note durably that it was begun, then perform it.
    pub once: bool,
}

/// When an effect is to be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Perform {
    /// At once.
    Now,
    /// After another one that has failed and is tried again.
    Later,
    /// Not any more: the run has gone on without it.
    Never,
}

/// What to do with an effect that has failed too often.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(tag = "then", rename_all = "snake_case")]
pub enum RetriesExhausted {
    /// Keep it and try again later: the run is not right without it.
    Keep,
    /// Forget it: nothing depends on it.
    Forget,
    /// End whatever it may have started in this slot, then apply the event.
    Tell {
        /// The slot of the process to end.
        slot_id: String,
        /// The event to apply.
        event: Box<Event>,
    },
}

/// What a host finds of a run after a restart. `begun` has no default: guessing it would start a turn twice, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RecoveryFacts {
    /// The process in [`crate::lifecycle::OwnedResources::process`] is alive.
    #[serde(default)]
    pub process_alive: bool,
    /// The effect in [`crate::lifecycle::PendingEffects::turn_effect_id`] was noted as begun before the restart.
    pub begun: bool,
    /// The slot in [`crate::lifecycle::OwnedResources::slot_id`] could not be held: another run may have it by now.
    #[serde(default)]
    pub slot_lost: bool,
}

/// How a host continues a run after a restart, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct RecoveryPlan {
    /// The living process whose end is to be reported again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach: Option<Attach>,
    /// What to perform.
    pub effects: Vec<Effect>,
    /// The event to apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
}

/// A process that has outlived its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Attach {
    /// The slot it lives in.
    pub slot_id: String,
    /// The turn it is in.
    pub attempt_number: u32,
}

/// The run that asked for a slot, by the slot's id; `None` if no run can have.
pub fn run_of_slot(slot_id: &str) -> Option<&str> {
    let (run_id, slot) = slot_id.split_at_checked(slot_id.bytes().rposition(|byte| byte == b'/')?)?;
    let number = slot.strip_prefix("/s")?;
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && is_run_id(run_id)).then_some(run_id)
}

/// The event that reports a turn that has ended, but whose report cannot be read (HOST-10).
///
/// `attempt_number` and `slot_id` are those of the effect that began the turn, so a run that has gone on absorbs it.
pub fn unreadable_report(attempt_number: u32, slot_id: &str) -> Event {
    Event::TurnFinished(TurnReport {
        attempt_number,
        slot_id: Some(slot_id.to_owned()),
        failure_reason: Some(Code::HostFailed.as_str().to_owned()),
        ..TurnReport::default()
    })
}

impl Effect {
    /// Whether it begins an agent's turn, which must not happen twice.
    pub(crate) fn begins_turn(&self) -> bool {
        self.starts_turn() || self.hands_reply_over()
    }

    /// Whether it begins a turn in a process of its own.
    fn starts_turn(&self) -> bool {
        matches!(self.action, Action::StartTurn { .. })
    }

    /// Whether it begins a turn in the process that waits for a reply.
    fn hands_reply_over(&self) -> bool {
        matches!(self.action, Action::InjectReply { .. })
    }

    fn ends_process_in(&self, slot: &str) -> bool {
        matches!(&self.action, Action::TerminateProcess { slot_id, .. } if slot_id == slot)
    }
}

impl Run {
    /// Whether an effect is to be performed now; `failed` are those of this run that are tried again later (HOST-7).
    pub fn due(&self, effect: &Effect, failed: &[Effect]) -> EffectStatus {
        let perform = match &effect.action {
            Action::AcquireSlot { .. }
            | Action::StartTurn { .. }
            | Action::InjectReply { .. }
            | Action::SetTimer { .. } => {
                let is_owed = self.owed().is_some_and(|owed| owed.id == effect.id);
                if is_owed { Perform::Now } else { Perform::Never }
            }
            // The next turn in this slot would run beside the process that could not be ended (LIFE-7).
            Action::ReleaseSlot { slot_id } if failed.iter().any(|failed| failed.ends_process_in(slot_id)) => {
                Perform::Later
            }
            Action::ReleaseSlot { .. }
            | Action::TerminateProcess { .. }
            | Action::CancelTimer { .. }
            | Action::Notify { .. } => Perform::Now,
        };
        EffectStatus { perform, once: effect.begins_turn() }
    }

    /// What to do with an effect that has failed too often; `begun` says that it may have had a part of its consequences
    /// (HOST-8).
    pub fn given_up(&self, effect: &Effect, begun: bool) -> RetriesExhausted {
        match &effect.action {
            Action::StartTurn { attempt_number, slot_id, .. } | Action::InjectReply { attempt_number, slot_id, .. }
                if begun =>
            {
                // Its end will never be reported.
                let event = unreadable_report(*attempt_number, slot_id);
                RetriesExhausted::Tell { slot_id: slot_id.clone(), event: Box::new(event) }
            }
            Action::Notify { .. } => RetriesExhausted::Forget,
            Action::StartTurn { .. }
            | Action::InjectReply { .. }
            | Action::AcquireSlot { .. }
            | Action::ReleaseSlot { .. }
            | Action::TerminateProcess { .. }
            | Action::SetTimer { .. }
            | Action::CancelTimer { .. } => RetriesExhausted::Keep,
        }
    }

    /// How to continue a run that was loaded after a restart (HOST-9). Before, everything of the run that is not in
    /// `keep` was given back or ended, and the slot it holds is held again.
    pub fn after_restart(&self, found: RecoveryFacts) -> RecoveryPlan {
        let owed = self.owed();
        let Some(slot_id) = self.keep().process else {
            return RecoveryPlan { effects: Vec::from_iter(owed), ..RecoveryPlan::default() };
        };
        let attempt_number = self.attempt_number();
        let not_started = !found.begun && owed.as_ref().is_some_and(Effect::starts_turn);
        // A turn needs its slot; and a process that is gone leaves nothing to go on with, unless it never was there.
        if found.slot_lost || !(found.process_alive || not_started) {
            let event = Event::ProcessLost { attempt_number, slot_id: Some(slot_id) };
            return RecoveryPlan { event: Some(event), ..RecoveryPlan::default() };
        }
        // Whether the process got its reply, and whether the end of that turn was reported, is not known: the reply is given
        // again, which is idempotent, and attaches to the process.
        let due = owed.filter(|effect| !(found.begun && effect.starts_turn()));
        let hands_over = due.as_ref().is_some_and(Effect::hands_reply_over);
        let attach = (found.process_alive && !hands_over).then_some(Attach { slot_id, attempt_number });
        RecoveryPlan { attach, effects: Vec::from_iter(due), event: None }
    }
}
