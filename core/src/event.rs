//! Events: what happened, told to the core.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codes::Code;
use crate::gate::Judged;
use crate::json;
use crate::limits::Limits;
use crate::receipt::Rejected;
use crate::text;
use crate::time::Timestamp;

/// Something that happened. `reply` and `cancel` are requests and can be rejected; the others are facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The run was made. First in every journal; [`crate::Run::create`] says it, nobody else.
    Created {},
    /// The host gave the slot that `acquire_slot` asked for.
    SlotGranted {
        /// The id of the request it answers.
        slot_id: String,
    },
    /// The agent's turn is over, well or not.
    TurnFinished(TurnReport),
    /// A turn's decision, recorded without its text. Only in compact journals; only a replay takes it.
    TurnDecided(Box<RecordedTurn>),
    /// A person answers a question.
    Reply(Reply),
    /// The timer set for a question went off.
    TimerFired {
        /// The question it was set for.
        interaction_id: u64,
    },
    /// The agent's process is gone and its turn will never finish.
    ProcessLost {
        /// The turn it belonged to.
        attempt_number: u32,
        /// The slot it ran in; tells a retried turn's process from the one before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot_id: Option<String>,
    },
    /// Somebody wants the run to end.
    Cancel {
        /// Why, in their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// What a finished turn left behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnReport {
    /// The turn that finished.
    pub attempt_number: u32,
    /// The slot it ran in; tells a retried turn from the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_id: Option<String>,
    /// The process's exit code; absent counts as 0 (a sticky process goes on living).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Why the turn failed, as a code such as `TIMEOUT` or `AUTH_REQUIRED`, whatever the exit code was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// The output as a JSON value the host already has. At most one of `output`, `messages` and `text`; null is none.
    #[serde(default, skip_serializing_if = "no_value")]
    pub output: Option<Value>,
    /// The turn's messages in order. Only those of role `assistant` are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Message>>,
    /// The assistant's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// An opaque handle by which the host can resume the agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_handle: Option<String>,
    /// The paths of the artifacts that exist, of those that the skill requires.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
}

/// One message of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Whose words these are: `assistant`, or any other role, which is never read.
    pub role: String,
    /// The words.
    pub text: String,
}

/// A turn in a compact journal: everything a replay needs, without the turn's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedTurn {
    /// The turn that finished.
    pub attempt_number: u32,
    /// The slot it ran in, if the report said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_id: Option<String>,
    /// The session handle it reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_handle: Option<String>,
    /// The SHA-256 digest of the full event's JSON text.
    pub report_digest: String,
    /// What the gates decided, and what the run went on with.
    pub judged: Judged,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The question it answers.
    pub interaction_id: u64,
    /// The answer: any text, also empty; any other JSON value is carried on as its JSON text.
    pub response: Value,
    /// Makes a repeated send harmless: the same key and reply are taken once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Take the reply only if the run is still at this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
}

impl Reply {
    /// A reply in plain text.
    #[must_use]
    pub fn text(interaction_id: u64, response: impl Into<String>) -> Reply {
        let response = Value::String(response.into());
        Reply { interaction_id, response, idempotency_key: None, expected_revision: None }
    }

    /// The response as the agent will read it.
    pub(crate) fn response_text(&self) -> String {
        match &self.response {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl Event {
    /// Reads an event from its JSON text.
    ///
    /// # Errors
    /// [`Rejected`] with `EVENT_MALFORMED` if it is not one event in the documented form.
    pub fn from_json(text: &str) -> Result<Event, Rejected> {
        let value = json::parse_value(text, MAX_EVENT_DEPTH)
            .map_err(|fault| Rejected::malformed(format!("the event cannot be read: {fault}")))?;
        Event::from_value(value)
    }

    /// Reads an event from a value that a binding made of its runtime's own data.
    ///
    /// # Errors
    /// [`Rejected`] with `EVENT_MALFORMED` if it is not one event in the documented form.
    pub fn from_value(value: Value) -> Result<Event, Rejected> {
        let Value::Object(mut members) = value else {
            return Err(Rejected::malformed("an event is a JSON object"));
        };
        let Some(Value::String(name)) = members.shift_remove("type") else {
            return Err(Rejected::malformed("an event has the text `type`"));
        };
        let event = match name.as_str() {
            "slot_granted" => fields(members).map(|Slot { slot_id }| Event::SlotGranted { slot_id }),
            "turn_finished" => fields(members).map(Event::TurnFinished),
            "reply" => fields(members).map(Event::Reply),
            "timer_fired" => fields(members).map(|Timer { interaction_id }| Event::TimerFired { interaction_id }),
            "process_lost" => fields(members)
                .map(|Process { attempt_number, slot_id }| Event::ProcessLost { attempt_number, slot_id }),
            "cancel" => fields(members).map(|Cancel { reason }| Event::Cancel { reason }),
            other => Err(Rejected::malformed(format!(
                "expected `slot_granted`, `turn_finished`, `reply`, `timer_fired`, `process_lost` or `cancel`, found {}",
                text::quoted(other)
            ))),
        }?;
        event.check_form()?;
        Ok(event)
    }

    /// The event's name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Event::Created {} => "created",
            Event::SlotGranted { .. } => "slot_granted",
            Event::TurnFinished(_) => "turn_finished",
            Event::TurnDecided(_) => "turn_decided",
            Event::Reply(_) => "reply",
            Event::TimerFired { .. } => "timer_fired",
            Event::ProcessLost { .. } => "process_lost",
            Event::Cancel { .. } => "cancel",
        }
    }

    /// Checks what the types alone do not say.
    pub(crate) fn check_form(&self) -> Result<(), Rejected> {
        match self {
            Event::TurnFinished(report) => report.check_form(),
            Event::Reply(Reply { idempotency_key: Some(key), .. })
                if key.is_empty() || is_longer(key, MAX_KEY_CHARACTERS) =>
            {
                Err(Rejected::malformed(format!("`idempotency_key` must have 1 to {MAX_KEY_CHARACTERS} characters")))
            }
            Event::Reply(reply) if json::depth(&reply.response) > Limits::MAX_JSON_DEPTH => {
                Err(Rejected::malformed(format!("`response` is nested deeper than {}", Limits::MAX_JSON_DEPTH)))
            }
            Event::Cancel { reason: Some(reason) } if is_longer(reason, MAX_REASON_CHARACTERS) => {
                Err(Rejected::malformed(format!("`reason` must have at most {MAX_REASON_CHARACTERS} characters")))
            }
            Event::TurnDecided(turn) if !turn.judged.is_coherent() => {
                Err(Rejected::malformed("the recorded decision does not fit what the run goes on with"))
            }
            _ => Ok(()),
        }
    }
}

impl TurnReport {
    /// A report of this turn that says nothing yet: it ended well and left nothing behind.
    #[must_use]
    pub fn of_attempt(attempt_number: u32) -> TurnReport {
        TurnReport { attempt_number, ..TurnReport::default() }
    }

    /// A report of a turn that ended well with this text of the assistant.
    #[must_use]
    pub fn with_text(attempt_number: u32, text: impl Into<String>) -> TurnReport {
        TurnReport { text: Some(text.into()), ..TurnReport::of_attempt(attempt_number) }
    }

    fn check_form(&self) -> Result<(), Rejected> {
        let contents = [!no_value(&self.output), self.messages.is_some(), self.text.is_some()];
        if contents.iter().filter(|given| **given).count() > 1 {
            return Err(Rejected::malformed("a turn has at most one of `output`, `messages` and `text`"));
        }
        if let Some(reason) = &self.failure_reason
            && !is_code(reason)
        {
            let found = text::quoted(reason);
            return Err(Rejected::malformed(format!(
                "`failure_reason` must be a code such as `TIMEOUT` (A-Z, 0-9 and _, at most 64), found {found}"
            )));
        }
        if self.session_handle.as_ref().is_some_and(|handle| is_longer(handle, MAX_HANDLE_CHARACTERS)) {
            let message = format!("`session_handle` must have at most {MAX_HANDLE_CHARACTERS} characters");
            return Err(Rejected::malformed(message));
        }
        Ok(())
    }

    /// The reason why the turn failed, if it did (GATE-1).
    pub(crate) fn failure(&self) -> Option<&str> {
        match (&self.failure_reason, self.exit_code.unwrap_or(0)) {
            (Some(reason), _) => Some(reason),
            (None, 0) => None,
            (None, _) => Some(Code::ProcessFailed.as_str()),
        }
    }
}

impl Timestamp {
    /// Reads a time from outside: a whole number of milliseconds in range.
    ///
    /// # Errors
    /// [`Rejected`] with `EVENT_MALFORMED` for anything else.
    pub fn from_json(value: &Value) -> Result<Timestamp, Rejected> {
        json::whole_number(value)
            .and_then(Timestamp::from_millis)
            .ok_or_else(|| Rejected::malformed("a time is a whole number of milliseconds from 0 to 9007199254740991"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slot {
    slot_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Timer {
    interaction_id: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Process {
    attempt_number: u32,
    #[serde(default)]
    slot_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cancel {
    #[serde(default)]
    reason: Option<String>,
}

/// The fields of an event, each by its name: serde alone would take a list of values for them.
fn fields<T: DeserializeOwned>(members: Map<String, Value>) -> Result<T, Rejected> {
    let messages = members.get("messages").and_then(Value::as_array).into_iter().flatten();
    if messages.into_iter().any(|message| !message.is_object()) {
        return Err(Rejected::malformed("`messages` is a list of objects with `role` and `text`"));
    }
    serde_path_to_error::deserialize(Value::Object(members)).map_err(|error| {
        let path = error.path().to_string();
        let message = serde_message(error.inner()).replace("u32", "a whole number").replace("u64", "a whole number");
        let place =
            if path == "." { String::new() } else { format!("`{}`: ", text::display_text(text::head(&path, 100))) };
        Rejected::malformed(format!("{place}{message}"))
    })
}

/// What serde found wrong, without unescaped or endless text from outside.
pub(crate) fn serde_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    text::display_text(text::head(&message, 200)).into_owned()
}

/// Null is no output: what `output: parsed ?? null` means.
#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn no_value(output: &Option<Value>) -> bool {
    matches!(output, None | Some(Value::Null))
}

fn is_code(reason: &str) -> bool {
    (1..=64).contains(&reason.len()) && reason.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}

fn is_longer(text: &str, characters: usize) -> bool {
    text.chars().nth(characters).is_some()
}

/// An output that is too deep is judged, not lost; this only keeps the reading itself within bounds.
const MAX_EVENT_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH;
pub(crate) const MAX_KEY_CHARACTERS: usize = 256;
pub(crate) const MAX_REASON_CHARACTERS: usize = 4096;
const MAX_HANDLE_CHARACTERS: usize = 4096;
