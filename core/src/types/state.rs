//! The states of a run. Data lives in the state that needs it, so that an impossible run cannot be written down.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

use crate::types::effect::EffectRef;
use crate::types::interaction::PendingInteraction;
use crate::types::tagged::{self, Tagged};

/// The public status of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for a slot.
    #[default]
    Queued,
    /// A turn is under way.
    Running,
    /// Waits for the user.
    WaitingUser,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
    /// Ended by a cancel request.
    Canceled,
}

impl Status {
    /// All statuses, in the order of a run's life.
    pub const ALL: [Status; 6] =
        [Status::Queued, Status::Running, Status::WaitingUser, Status::Succeeded, Status::Failed, Status::Canceled];

    /// The status on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Queued => "queued",
            Status::Running => "running",
            Status::WaitingUser => "waiting_user",
            Status::Succeeded => "succeeded",
            Status::Failed => "failed",
            Status::Canceled => "canceled",
        }
    }

    /// Whether nothing can happen to the run any more.
    pub const fn is_end(self) -> bool {
        matches!(self, Status::Succeeded | Status::Failed | Status::Canceled)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it should.
    Succeeded {
        /// The result as JSON text: key order kept, integers exact. Absent if the skill has no output to give.
        #[serde(skip_serializing_if = "Option::is_none")]
        data_text: Option<String>,
    },
    /// It did not.
    Failed(RunError),
    /// A cancel request ended it.
    Canceled(RunError),
}

impl Outcome {
    /// Why the run ended without success.
    pub fn error(&self) -> Option<&RunError> {
        match self {
            Outcome::Failed(error) | Outcome::Canceled(error) => Some(error),
            Outcome::Succeeded { .. } => None,
        }
    }
}

/// Why a run ended without success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunError {
    /// A stable code: one of [`crate::Code`], or the failure reason a host reported.
    pub code: String,
    /// What happened, for people.
    pub message: String,
}

/// The state itself; only `transition` makes one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum State {
    Queued(Queued),
    Running(Running),
    WaitingUser(WaitingUser),
    Ended(Ended),
}

/// A slot was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Queued {
    /// The number the turn will have: one more than the last, or the same if it is retried.
    pub(crate) next_attempt: u32,
    pub(crate) slot_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Answer>,
    /// Where `acquire_slot` was emitted.
    pub(crate) asked: EffectRef,
}

/// A turn is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Running {
    pub(crate) slot_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Answer>,
    pub(crate) begun_by: BegunBy,
    /// Where `start_turn` or `inject_reply` was emitted.
    pub(crate) begun: EffectRef,
}

/// How a turn began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BegunBy {
    StartTurn,
    InjectReply,
}

/// The answer that a turn goes on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) interaction_id: u64,
    pub(crate) response: String,
}

/// A question is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitingUser {
    pub(crate) pending: PendingInteraction,
    /// The slot a sticky process keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept_slot: Option<String>,
    /// Where `set_timer` was emitted, if the wait has a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timer: Option<EffectRef>,
}

/// The run is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ended {
    pub(crate) how: Outcome,
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<State, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl<'de> Tagged<'de> for State {
    const TAG: &'static [&'static str; 1] = &["status"];

    fn read<A: MapAccess<'de>>(status: String, rest: MapAccessDeserializer<A>) -> Result<State, A::Error> {
        match status.as_str() {
            "queued" => Queued::deserialize(rest).map(State::Queued),
            "running" => Running::deserialize(rest).map(State::Running),
            "waiting_user" => WaitingUser::deserialize(rest).map(State::WaitingUser),
            "ended" => Ended::deserialize(rest).map(State::Ended),
            _ => Err(A::Error::custom("has no state's name as its `status`")),
        }
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl<'de> Tagged<'de> for Outcome {
    const TAG: &'static [&'static str; 1] = &["outcome"];

    fn read<A: MapAccess<'de>>(outcome: String, rest: MapAccessDeserializer<A>) -> Result<Outcome, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Succeeded {
            data_text: Option<String>,
        }

        match outcome.as_str() {
            "succeeded" => Succeeded::deserialize(rest).map(|Succeeded { data_text }| Outcome::Succeeded { data_text }),
            "failed" => RunError::deserialize(rest).map(Outcome::Failed),
            "canceled" => RunError::deserialize(rest).map(Outcome::Canceled),
            _ => Err(A::Error::custom("has no end's name as its `outcome`")),
        }
    }
}

impl State {
    /// The slot the run holds now.
    pub(crate) fn held_slot(&self) -> Option<&String> {
        match self {
            State::Running(running) => Some(&running.slot_id),
            State::WaitingUser(waiting) => waiting.kept_slot.as_ref(),
            State::Queued(_) | State::Ended(_) => None,
        }
    }

    /// How the run ended, if it did.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        match self {
            State::Ended(Ended { how }) => Some(how),
            State::Queued(_) | State::Running(_) | State::WaitingUser(_) => None,
        }
    }

    pub(crate) fn status(&self) -> Status {
        match self {
            State::Queued(_) => Status::Queued,
            State::Running(_) => Status::Running,
            State::WaitingUser(_) => Status::WaitingUser,
            State::Ended(Ended { how: Outcome::Succeeded { .. } }) => Status::Succeeded,
            State::Ended(Ended { how: Outcome::Failed(_) }) => Status::Failed,
            State::Ended(Ended { how: Outcome::Canceled(_) }) => Status::Canceled,
        }
    }
}
