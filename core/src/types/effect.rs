//! Effects: what the host must do, told by the core.

use crate::json::Value;
use crate::read::{Readable, Reading, read};
use crate::text::push_number;
use crate::types::receipt::Rejected;
use crate::types::state::Status;
use crate::types::time::Timestamp;
use crate::wire::{names, record};
use crate::write::{Writable, Writer, serialize_as_written};
use serde::{Deserialize, Serialize};

/// One thing to do, and its id `run_id/revision/n`: doing it twice under the same id equals doing it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// What to do.
    #[serde(flatten)]
    pub action: Action,
    /// The effect's own id.
    pub id: String,
}

/// What the host must do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    /// Ask for a slot; answer with `slot_granted` when there is one.
    AcquireSlot {
        /// The request's id, and the slot's once it is granted.
        slot_id: String,
    },
    /// Give the slot back; if it was asked for and not granted yet, withdraw the request.
    ReleaseSlot {
        /// The slot to give back.
        slot_id: String,
    },
    /// Run the agent for one turn; answer with `turn_finished` or `process_lost`.
    StartTurn {
        /// The turn's number.
        attempt_number: u32,
        /// The slot it runs in.
        slot_id: String,
        /// What the turn goes on from; absent in the first turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        resume: Option<ResumeFrom>,
    },
    /// Hand the reply to the process that waits for it; its next turn begins.
    InjectReply {
        /// The number of the turn that begins.
        attempt_number: u32,
        /// The slot the process lives in.
        slot_id: String,
        /// The question that was answered.
        interaction_id: u64,
        /// The answer.
        response: String,
    },
    /// End the agent's process and everything it started.
    TerminateProcess {
        /// The turn it is in.
        attempt_number: u32,
        /// The slot it lives in: what tells it from another process of the same turn.
        slot_id: String,
    },
    /// Answer with `timer_fired` at this time. A timer of the same question is replaced.
    SetTimer {
        /// The question it is for.
        interaction_id: u64,
        /// When it goes off.
        at: Timestamp,
    },
    /// Forget the timer of this question, if there is one.
    CancelTimer {
        /// The question it was for.
        interaction_id: u64,
    },
    /// Tell observers; nothing depends on it.
    Notify {
        /// What happened.
        what: Notice,
        /// The run's status now.
        status: Status,
        /// The question that is now pending.
        #[serde(skip_serializing_if = "Option::is_none")]
        interaction_id: Option<u64>,
    },
}

/// What observers are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// The run has another status than before, or the same one in a new turn.
    StatusChanged,
}

/// What a turn goes on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResumeFrom {
    /// The last good handle of the agent's session, if it ever gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_handle: Option<String>,
    /// The question that was answered.
    pub interaction_id: u64,
    /// The answer.
    pub response: String,
}

impl Effect {
    /// Reads an effect that the core has told before, from a host that asks about it.
    ///
    /// # Errors
    /// [`Rejected`] with `EVENT_MALFORMED` if it is none.
    pub fn from_value(value: Value) -> Result<Effect, Rejected> {
        read(value).map_err(|misread| Rejected::malformed(misread.sentence("the effect")))
    }
}

impl Writable for Effect {
    fn write(&self, out: &mut Writer) {
        out.object(|out| {
            out.members_of(&self.action);
            out.member("id", &self.id);
        });
    }
}

impl Writable for Action {
    fn write(&self, out: &mut Writer) {
        out.object(|out| match self {
            Action::AcquireSlot { slot_id } => {
                out.member("type", &"acquire_slot");
                out.member("slot_id", slot_id);
            }
            Action::ReleaseSlot { slot_id } => {
                out.member("type", &"release_slot");
                out.member("slot_id", slot_id);
            }
            Action::StartTurn { attempt_number, slot_id, resume } => {
                out.member("type", &"start_turn");
                out.member("attempt_number", attempt_number);
                out.member("slot_id", slot_id);
                out.member("resume", resume);
            }
            Action::InjectReply { attempt_number, slot_id, interaction_id, response } => {
                out.member("type", &"inject_reply");
                out.member("attempt_number", attempt_number);
                out.member("slot_id", slot_id);
                out.member("interaction_id", interaction_id);
                out.member("response", response);
            }
            Action::TerminateProcess { attempt_number, slot_id } => {
                out.member("type", &"terminate_process");
                out.member("attempt_number", attempt_number);
                out.member("slot_id", slot_id);
            }
            Action::SetTimer { interaction_id, at } => {
                out.member("type", &"set_timer");
                out.member("interaction_id", interaction_id);
                out.member("at", at);
            }
            Action::CancelTimer { interaction_id } => {
                out.member("type", &"cancel_timer");
                out.member("interaction_id", interaction_id);
            }
            Action::Notify { what, status, interaction_id } => {
                out.member("type", &"notify");
                out.member("what", what);
                out.member("status", status);
                out.member("interaction_id", interaction_id);
            }
        });
    }
}

impl Readable for Effect {
    fn blank() -> Effect {
        Effect { action: Action::AcquireSlot { slot_id: String::new() }, id: String::new() }
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        let mut members = reading.members(value);
        let name = members.tag("type");
        members.take("id", &mut self.id);
        // Whatever the effect is, these are the members it may have.
        let (mut attempt_number, mut slot_id, mut interaction_id) = (0, String::new(), 0);
        self.action = match name.as_str() {
            "acquire_slot" => {
                members.take("slot_id", &mut slot_id);
                Action::AcquireSlot { slot_id }
            }
            "release_slot" => {
                members.take("slot_id", &mut slot_id);
                Action::ReleaseSlot { slot_id }
            }
            "start_turn" => {
                let mut resume = None;
                members.take("attempt_number", &mut attempt_number);
                members.take("slot_id", &mut slot_id);
                members.take("resume", &mut resume);
                Action::StartTurn { attempt_number, slot_id, resume }
            }
            "inject_reply" => {
                let mut response = String::new();
                members.take("attempt_number", &mut attempt_number);
                members.take("slot_id", &mut slot_id);
                members.take("interaction_id", &mut interaction_id);
                members.take("response", &mut response);
                Action::InjectReply { attempt_number, slot_id, interaction_id, response }
            }
            "terminate_process" => {
                members.take("attempt_number", &mut attempt_number);
                members.take("slot_id", &mut slot_id);
                Action::TerminateProcess { attempt_number, slot_id }
            }
            "set_timer" => {
                let mut at = Timestamp::default();
                members.take("interaction_id", &mut interaction_id);
                members.take("at", &mut at);
                Action::SetTimer { interaction_id, at }
            }
            "cancel_timer" => {
                members.take("interaction_id", &mut interaction_id);
                Action::CancelTimer { interaction_id }
            }
            "notify" => {
                let (mut what, mut status, mut interaction_id) = (Notice::blank(), Status::blank(), None);
                members.take("what", &mut what);
                members.take("status", &mut status);
                members.take("interaction_id", &mut interaction_id);
                Action::Notify { what, status, interaction_id }
            }
            _ => return members.wrong("has no effect's name as its `type`"),
        };
        members.end();
    }
}

names!(Notice { "status_changed" => StatusChanged });
record!(ResumeFrom { session_handle, interaction_id, response });

/// Where an effect was first told: enough to tell it again under the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EffectRef {
    pub(crate) revision: u64,
    pub(crate) number: u32,
}

record!(EffectRef { revision, number });

impl EffectRef {
    pub(crate) fn id(self, run_id: &str) -> String {
        let mut id = String::with_capacity(run_id.len() + 12);
        id.push_str(run_id);
        for number in [self.revision, u64::from(self.number)] {
            id.push('/');
            push_number(&mut id, number);
        }
        id
    }
}
