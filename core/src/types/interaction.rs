//! Questions to the user: the pending one, the answered ones, and what both are made of.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize, Serializer, ser};
use serde_json::{Map, Value};

use crate::types::time::Timestamp;

/// What a question looks like to a person. Display metadata: no decision depends on it (PEND-4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChoiceOption {
    /// What the user sees.
    pub label: String,
    /// What the agent would like to hear, if it said so.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
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
    /// The question as the agent wrote it; never shown without care, see [`crate::text::display_text`].
    pub prompt: String,
    /// Answers the agent suggests.
    pub options: Vec<ChoiceOption>,
    /// Hints of the agent for the user interface.
    pub ui_hints: FreeForm,
    /// What an automatic decision follows if the user does not answer.
    pub default_decision_policy: Cow<'static, str>,
    /// Names of fields the agent would like to have filled in.
    pub required_fields: Vec<String>,
    /// What the agent said around the question, and what it called things before the core renamed them.
    pub context: FreeForm,
}

/// Members that the agent names and shapes freely. Most questions have none, and none take no room.
#[derive(Clone, Debug, Default)]
pub struct FreeForm(Option<Box<Map<String, Value>>>);

impl FreeForm {
    /// The members as a map of their own.
    pub fn to_map(&self) -> Map<String, Value> {
        self.deref().clone()
    }
}

impl From<Map<String, Value>> for FreeForm {
    fn from(members: Map<String, Value>) -> FreeForm {
        FreeForm((!members.is_empty()).then(|| Box::new(members)))
    }
}

impl PartialEq for FreeForm {
    fn eq(&self, other: &FreeForm) -> bool {
        **self == **other
    }
}

impl Deref for FreeForm {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for FreeForm {
    fn deref_mut(&mut self) -> &mut Map<String, Value> {
        self.0.get_or_insert_default()
    }
}

impl Serialize for FreeForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_text(&**self, serializer)
    }
}

/// Writes a value as JSON text inside JSON.
fn as_text<T: Serialize + ?Sized, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&serde_json::to_string(value).map_err(ser::Error::custom)?)
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
    /// What is asked; a turn's judgement has it too, and it may be long.
    pub question: Arc<Question>,
}

/// How a question came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResolutionMode {
    /// A person answered.
    UserReply,
    /// The user did not answer, and the core made the agent continue.
    AutoDecideTimeout,
    /// The run ended before the user answered: a cancel, or the process that asked was lost.
    Canceled,
    /// The user did not answer in time, and that ended the run.
    Expired,
}

impl ResolutionMode {
    /// Who brought the question to its end.
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
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// How it ended.
    pub resolution_mode: ResolutionMode,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it ended.
    pub resolved_at: Timestamp,
    /// The key the reply came with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The run's revision after this step: what the reply's receipt said.
    pub revision: u64,
}
