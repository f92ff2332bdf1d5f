//! Questions to the user: the pending one, the answered ones, and what both are made of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::Timestamp;

/// What a question looks like to a person. Display metadata: no decision depends on it (PEND-4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionKind {
    /// One of several options.
    ChooseOne,
    /// Yes or no.
    Confirm,
    /// Several fields to fill in.
    FillFields,
    /// Free text; also what every unknown kind becomes.
    #[default]
    OpenText,
    /// A risk to be acknowledged.
    RiskAck,
}

impl InteractionKind {
    /// The kind of this name or alias.
    pub(crate) fn from_name(name: &str) -> Option<InteractionKind> {
        Some(match name {
            "choose_one" | "decision" => InteractionKind::ChooseOne,
            "confirm" | "confirmation" => InteractionKind::Confirm,
            "fill_fields" => InteractionKind::FillFields,
            "open_text" | "clarification" => InteractionKind::OpenText,
            "risk_ack" => InteractionKind::RiskAck,
            _ => return None,
        })
    }
}

/// Something the user may choose; never the only thing they may say (PEND-5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceOption {
    /// What the user sees.
    pub label: String,
    /// What the agent would like to hear, if it said so.
    #[serde(with = "optional_json_text", default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// What is asked, before it has an id and a time.
///
/// Parts that the agent shapes freely are kept as JSON text in a snapshot, so that no key of theirs is a key of ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// How to show it.
    pub kind: InteractionKind,
    /// The question as the agent wrote it; never shown without care, see [`crate::display_text`].
    pub prompt: String,
    /// Answers the agent suggests.
    pub options: Vec<ChoiceOption>,
    /// Anything the agent tells the user interface.
    #[serde(with = "json_text")]
    pub ui_hints: Map<String, Value>,
    /// What an automatic decision goes by when nobody answers.
    pub default_decision_policy: String,
    /// Names of fields the agent would like to have filled in.
    pub required_fields: Vec<String>,
    /// What the agent said around the question, and what it called things before the core renamed them.
    #[serde(with = "json_text")]
    pub context: Map<String, Value>,
}

/// The one question a waiting run has (PEND-1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingInteraction {
    /// 1, 2, 3 … in the life of the run; assigned by the core.
    pub interaction_id: u64,
    /// The turn that asked.
    pub attempt_number: u32,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When waiting ends by itself, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
    /// What is asked.
    pub question: Question,
}

/// How a question came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionMode {
    /// A person answered.
    UserReply,
    /// Nobody did, and the core told the agent to go on.
    AutoDecideTimeout,
    /// The run ended before anybody answered: a cancel, or the process that asked was lost.
    Canceled,
    /// Nobody answered in time, and that ended the run.
    Expired,
}

impl ResolutionMode {
    /// Who brought the question to its end.
    #[must_use]
    pub const fn resolved_by(self) -> &'static str {
        match self {
            ResolutionMode::UserReply => "user",
            ResolutionMode::AutoDecideTimeout => "auto_decision",
            ResolutionMode::Canceled => "end_of_run",
            ResolutionMode::Expired => "deadline",
        }
    }
}

/// One question and its end, for ever (HIST-1). Made by the transition that ended it and by nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InteractionRecord {
    /// The question's id.
    pub interaction_id: u64,
    /// The turn that asked.
    pub attempt_number: u32,
    /// How it was shown.
    pub kind: InteractionKind,
    /// What was asked.
    pub prompt: String,
    /// What was answered, by a person or by the core; absent if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// How it ended.
    pub resolution_mode: ResolutionMode,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it ended.
    pub resolved_at: Timestamp,
    /// The key the reply came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The run's revision after this step: what the reply's receipt said.
    pub revision: u64,
}

/// A map as JSON text inside JSON.
mod json_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _, ser::Error as _};
    use serde_json::{Map, Value};

    pub(super) fn serialize<S: Serializer>(map: &Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&serde_json::to_string(map).map_err(S::Error::custom)?)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
        match super::read_json_text(&String::deserialize(deserializer)?).map_err(D::Error::custom)? {
            Value::Object(map) => Ok(map),
            _ => Err(D::Error::custom("expected the JSON text of an object")),
        }
    }
}

/// Any value as JSON text inside JSON.
mod optional_json_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _, ser::Error as _};
    use serde_json::Value;

    #[expect(clippy::ref_option, reason = "the signature that serde asks for")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_str(&serde_json::to_string(value).map_err(S::Error::custom)?),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
        super::read_json_text(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
    }
}

fn read_json_text(text: &str) -> Result<Value, String> {
    crate::json::parse_value(text, crate::limits::Limits::MAX_JSON_DEPTH).map_err(|fault| fault.to_string())
}
