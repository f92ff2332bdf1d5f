//! The states of a run. Data lives in the state that needs it, so that an impossible run cannot be written down.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::effect::EffectRef;
use crate::interaction::PendingInteraction;
use crate::json;
use crate::receipt::Rejected;
use crate::text;

/// Where a run is, as everybody may know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for a slot.
    Queued,
    /// A turn is under way.
    Running,
    /// Waits for a person.
    WaitingUser,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
    /// Was ended by somebody.
    Canceled,
}

impl Status {
    /// All statuses, in the order of a run's life.
    pub const ALL: [Status; 6] =
        [Status::Queued, Status::Running, Status::WaitingUser, Status::Succeeded, Status::Failed, Status::Canceled];

    /// The status on the wire.
    #[must_use]
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

    /// The status of this name.
    ///
    /// # Errors
    /// [`Rejected`] with `EVENT_MALFORMED` if there is none.
    pub fn named(name: &str) -> Result<Status, Rejected> {
        let known = Status::ALL.into_iter().find(|status| status.as_str() == name);
        known.ok_or_else(|| Rejected::malformed(format!("there is no status {}", text::quoted(name))))
    }

    /// Whether nothing can happen to the run any more.
    #[must_use]
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
    /// Somebody ended it.
    Canceled(RunError),
}

/// Why a run ended without success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    WaitingUser(Box<WaitingUser>),
    Ended(Ended),
}

/// A slot was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Queued {
    /// The number the turn will have: one more than the last, or the same if it is retried.
    pub(crate) next_attempt: u32,
    pub(crate) slot_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Answer>,
    /// Where `acquire_slot` was told.
    pub(crate) asked: EffectRef,
}

/// A turn is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Running {
    pub(crate) slot_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Answer>,
    pub(crate) begun_by: BegunBy,
    /// Where `start_turn` or `inject_reply` was told.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept_slot: Option<String>,
    /// Where `set_timer` was told, if the wait has a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timer: Option<EffectRef>,
}

/// The run is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ended {
    pub(crate) how: Outcome,
}

/// By way of a [`Value`], like every document: `serde`'s own way to read an enum by its tag is a second copy of each type.
impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<State, D::Error> {
        let (status, rest) = json::tagged(deserializer, "status")?;
        match status.as_str() {
            "queued" => serde_json::from_value(rest).map(State::Queued),
            "running" => serde_json::from_value(rest).map(State::Running),
            "waiting_user" => serde_json::from_value(rest).map(State::WaitingUser),
            "ended" => serde_json::from_value(rest).map(State::Ended),
            _ => return Err(D::Error::custom("there is no such state")),
        }
        .map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Success {
            #[serde(default)]
            data_text: Option<String>,
        }
        let (outcome, rest) = json::tagged(deserializer, "outcome")?;
        match outcome.as_str() {
            "succeeded" => serde_json::from_value(rest).map(|Success { data_text }| Outcome::Succeeded { data_text }),
            "failed" => serde_json::from_value(rest).map(Outcome::Failed),
            "canceled" => serde_json::from_value(rest).map(Outcome::Canceled),
            _ => return Err(D::Error::custom("there is no such outcome")),
        }
        .map_err(D::Error::custom)
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
