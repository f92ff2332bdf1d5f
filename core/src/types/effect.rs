//! Effects: what the core asks the host to do.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

use crate::types::state::Status;
use crate::types::tagged::{self, Tagged};
use crate::types::time::Timestamp;

/// One thing to do, and its id `run_id/revision/n`: doing it twice under the same id equals doing it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// What to do.
    #[serde(flatten)]
    pub action: Action,
    /// The effect's own id.
    pub id: String,
}

/// What the host must do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
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
        /// What the turn continues from; absent in the first turn.
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
        /// The slot it lives in: which distinguishes it from another process of the same turn.
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
    /// Notify observers; nothing depends on it.
    Notify {
        /// What happened.
        what: Notification,
        /// The run's status now.
        status: Status,
        /// The question that is now pending.
        #[serde(skip_serializing_if = "Option::is_none")]
        interaction_id: Option<u64>,
    },
}

/// What observers are notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Notification {
    /// The run has another status than before, or the same one in a new turn.
    StatusChanged,
}

/// What a turn continues from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
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

impl<'de> Deserialize<'de> for Effect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Effect, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl<'de> Tagged<'de> for Effect {
    const TAG: &'static [&'static str; 1] = &["type"];

    fn read<A: MapAccess<'de>>(name: String, rest: MapAccessDeserializer<A>) -> Result<Effect, A::Error> {
        /// Whatever the effect is, these are the members it may have.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Members {
            id: String,
            attempt_number: Option<u32>,
            slot_id: Option<String>,
            resume: Option<ResumeFrom>,
            interaction_id: Option<u64>,
            response: Option<String>,
            at: Option<Timestamp>,
            what: Option<Notification>,
            status: Option<Status>,
        }

        fn given<T, E: Error>(member: Option<T>, name: &'static str) -> Result<T, E> {
            member.ok_or_else(|| E::missing_field(name))
        }

        let members = Members::deserialize(rest)?;
        let attempt_number = given(members.attempt_number, "attempt_number");
        let slot_id = given(members.slot_id, "slot_id");
        let interaction_id = given(members.interaction_id, "interaction_id");
        let action = match name.as_str() {
            "acquire_slot" => Action::AcquireSlot { slot_id: slot_id? },
            "release_slot" => Action::ReleaseSlot { slot_id: slot_id? },
            "start_turn" => {
                Action::StartTurn { attempt_number: attempt_number?, slot_id: slot_id?, resume: members.resume }
            }
            "inject_reply" => Action::InjectReply {
                attempt_number: attempt_number?,
                slot_id: slot_id?,
                interaction_id: interaction_id?,
                response: given(members.response, "response")?,
            },
            "terminate_process" => Action::TerminateProcess { attempt_number: attempt_number?, slot_id: slot_id? },
            "set_timer" => Action::SetTimer { interaction_id: interaction_id?, at: given(members.at, "at")? },
            "cancel_timer" => Action::CancelTimer { interaction_id: interaction_id? },
            "notify" => Action::Notify {
                what: given(members.what, "what")?,
                status: given(members.status, "status")?,
                interaction_id: interaction_id.ok(),
            },
            _ => return Err(A::Error::custom("has no effect's name as its `type`")),
        };
        Ok(Effect { action, id: members.id })
    }
}

/// Where an effect was first emitted: enough to emit it again under the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EffectRef {
    pub(crate) revision: u64,
    pub(crate) number: u32,
}

impl EffectRef {
    pub(crate) fn id(self, run_id: &str) -> String {
        format!("{run_id}/{}/{}", self.revision, self.number)
    }
}
