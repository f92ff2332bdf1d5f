//! Events: what happened, as hosts report it to the core.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::text;
use crate::types::codes::{Code, Note};
use crate::types::decision::Evaluation;
use crate::types::limits::{self, Limits};
use crate::types::receipt::EventRejected;
use crate::types::stream::Stream;
use crate::types::tagged::{self, NoMembers, Tagged};

/// Something that happened. `reply` and `cancel` are requests and can be rejected; the others are facts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run was made. First in every journal; only [`crate::Run::create`] emits it.
    #[cfg_attr(feature = "json-schema", schemars(skip))]
    Created {},
    /// The host gave the slot that `acquire_slot` asked for.
    SlotGranted {
        /// The id of the request it answers.
        slot_id: String,
    },
    /// The agent's turn is over, well or not.
    TurnFinished(TurnReport),
    /// A turn's evaluation, recorded without its text. Only in compact journals; only a replay takes it.
    #[cfg_attr(feature = "json-schema", schemars(skip))]
    TurnDecided(DecidedTurn),
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
        /// The slot it ran in; distinguishes a retried turn's process from the one before it.
        #[serde(skip_serializing_if = "Option::is_none")]
        slot_id: Option<String>,
    },
    /// A request to end the run.
    Cancel {
        /// Why, in their words.
        #[cfg_attr(feature = "json-schema", schemars(length(max = MAX_REASON_CHARACTERS)))]
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// Who brings an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The user, or a client on their behalf.
    User,
    /// The agent.
    Agent,
    /// The clock.
    Timer,
    /// The host: its slots and processes.
    Host,
}

/// The key, and the word, by which an agent says that it is done.
pub const DONE_MARKER: &str = "__SKILL_DONE__";

/// What a finished turn left behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TurnReport {
    /// The turn that finished.
    pub attempt_number: u32,
    /// The slot it ran in; distinguishes a retried turn from the one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_id: Option<String>,
    /// The process's exit code; absent counts as 0 (a sticky process stays alive).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Why the turn failed, as a code such as `TIMEOUT` or `AUTH_REQUIRED`, whatever the exit code was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// The output as a JSON value the host already has. At most one of `output`, `messages` and `text`; null is none.
    #[serde(skip_serializing_if = "is_no_output")]
    pub output: Option<Value>,
    /// The turn's messages in order. Only those of role `assistant` are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Message>>,
    /// The assistant's text. Of one over the limit the last `prompt_bytes` bytes are enough, with `text_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The size of the whole text in bytes, where only its end stands in `text` (OUT-12).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_bytes: Option<u64>,
    /// An opaque handle by which the host can resume the agent's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_handle: Option<String>,
    /// The paths of the artifacts that exist, of those that the skill requires.
    #[serde(default, deserialize_with = "or_null", skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// What the turn cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the agent's program printed, in place of `output`, `messages` and `text`; decoded when the event is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<Box<Stream>>,
    /// What was strange about the agent's stream; the decision repeats it.
    #[serde(default, deserialize_with = "or_null", skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Note>,
}

/// What a compact journal records of a finished turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecidedTurn {
    /// The turn that finished.
    pub attempt_number: u32,
    /// The slot it ran in, if the report said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_id: Option<String>,
    /// The session handle it reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_handle: Option<String>,
    /// The SHA-256 digest of the full event's JSON text.
    pub report_digest: String,
    /// What the gates decided, and what the run continued with.
    pub evaluation: Box<Evaluation>,
}

/// One message of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Whose words these are: `assistant`, or any other role, which is never read.
    pub role: String,
    /// The words.
    pub text: String,
}

/// Tokens of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Read by the model.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
    /// Of those read, the ones that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The question it answers.
    pub interaction_id: u64,
    /// The answer: any text, also empty; any other JSON value is carried on as its JSON text.
    pub response: Value,
    /// Makes a repeated send harmless: the same key and reply are taken once.
    #[cfg_attr(feature = "json-schema", schemars(length(min = 1, max = MAX_KEY_CHARACTERS)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Take the reply only if the run is still at this revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<u64>,
}

impl Reply {
    /// A reply in plain text.
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
    /// The report of a turn with the assistant's text, which a binding hands over beside it: a long text need not be
    /// written as JSON and read back. Where `text_bytes` is given, an empty `text` stands in its place until then.
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` if the event is no finished turn, or has another content.
    pub fn with_text(mut self, text: &str) -> Result<Event, EventRejected> {
        let Event::TurnFinished(report) = &mut self else {
            return Err(EventRejected::malformed("only `turn_finished` has a text"));
        };
        match &mut report.stream {
            Some(stream) => text.clone_into(&mut stream.stdout),
            None => report.text = Some(text.to_owned()),
        }
        self.check_form()?;
        Ok(self)
    }

    /// The event's name on the wire.
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

    /// The name for users: a turn is `turn_finished`, also where only its evaluation was recorded.
    pub(crate) const fn public_name(&self) -> &'static str {
        match self {
            Event::TurnDecided(_) => "turn_finished",
            event => event.name(),
        }
    }

    /// Who brings the event.
    pub(crate) const fn origin(&self) -> Origin {
        match self {
            Event::TurnFinished(_) | Event::TurnDecided(_) => Origin::Agent,
            Event::Created {} | Event::Reply(_) | Event::Cancel { .. } => Origin::User,
            Event::TimerFired { .. } => Origin::Timer,
            Event::SlotGranted { .. } | Event::ProcessLost { .. } => Origin::Host,
        }
    }

    /// Checks what the types alone do not say.
    pub(crate) fn check_form(&self) -> Result<(), EventRejected> {
        self.fault().map_or(Ok(()), |(path, fault)| Err(EventRejected::malformed(fault).at(path)))
    }

    /// The first member that is wrong, and how.
    fn fault(&self) -> Option<(&'static str, String)> {
        Some(match self {
            Event::TurnFinished(report) => return report.fault(),
            Event::Reply(Reply { idempotency_key: Some(key), .. })
                if key.is_empty() || is_longer(key, MAX_KEY_CHARACTERS) =>
            {
                ("/idempotency_key", format!("`idempotency_key` must have 1 to {MAX_KEY_CHARACTERS} characters"))
            }
            Event::Reply(reply) if limits::depth(&reply.response) > Limits::MAX_JSON_DEPTH => {
                ("/response", format!("`response` is nested deeper than {}", Limits::MAX_JSON_DEPTH))
            }
            Event::Cancel { reason: Some(reason) } if is_longer(reason, MAX_REASON_CHARACTERS) => {
                ("/reason", format!("`reason` must have at most {MAX_REASON_CHARACTERS} characters"))
            }
            Event::TurnDecided(turn) if !turn.evaluation.is_coherent() => {
                ("/evaluation", "the recorded decision does not fit what the run goes on with".to_owned())
            }
            _ => return None,
        })
    }
}

impl TurnReport {
    /// A report of this turn that says nothing yet: it ended well and left nothing behind.
    pub fn of_attempt(attempt_number: u32) -> TurnReport {
        TurnReport { attempt_number, ..TurnReport::default() }
    }

    /// A report of a turn that ended well with this text of the assistant.
    pub fn with_text(attempt_number: u32, text: impl Into<String>) -> TurnReport {
        TurnReport { text: Some(text.into()), ..TurnReport::of_attempt(attempt_number) }
    }

    fn fault(&self) -> Option<(&'static str, String)> {
        let contents =
            [!is_no_output(&self.output), self.messages.is_some(), self.text.is_some(), self.stream.is_some()];
        let is_long_note = |note: &Note| is_longer(&note.message, MAX_NOTE_CHARACTERS);
        let bad_reason = self.failure_reason.as_deref().filter(|reason| !is_code(reason));
        if contents.into_iter().filter(|given| *given).count() > 1 {
            return Some(("", "a turn has at most one of `output`, `messages`, `text` and `stream`".to_owned()));
        }
        if self.text_bytes.is_some_and(|size| self.text.as_ref().is_none_or(|text| size < text.len() as u64)) {
            let fault = "`text_bytes` must stand beside a `text`, and be at least its size in bytes";
            return Some(("/text_bytes", fault.to_owned()));
        }
        // A page that shows runs has no agents, and is spared the decoders.
        if self.stream.is_some() && !cfg!(feature = "streams") {
            return Some(("/stream", "a turn has a `stream`, which this build cannot decode".to_owned()));
        }
        if self.stream.is_some() && self.exit_code.is_some() {
            return Some(("/exit_code", "a turn has its exit code in `stream` if it has a stream".to_owned()));
        }
        if self.diagnostics.len() > MAX_NOTES || self.diagnostics.iter().any(is_long_note) {
            let fault =
                format!("`diagnostics` must be at most {MAX_NOTES}, of at most {MAX_NOTE_CHARACTERS} characters each");
            return Some(("/diagnostics", fault));
        }
        if let Some(reason) = bad_reason {
            let found = text::quoted(reason);
            let fault = format!(
                "`failure_reason` must be a code such as `TIMEOUT` (A-Z, 0-9 and _, at most 64), found {found}"
            );
            return Some(("/failure_reason", fault));
        }
        let is_long_handle =
            self.session_handle.as_ref().is_some_and(|handle| is_longer(handle, MAX_HANDLE_CHARACTERS));
        let fault = || format!("`session_handle` must have at most {MAX_HANDLE_CHARACTERS} characters");
        is_long_handle.then(|| ("/session_handle", fault()))
    }

    /// Keeps of a text over the limit only the end, which is all that counts of it (OUT-12).
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` if only the end of a text within the limit is there.
    pub(crate) fn keep_end_of_long_text(&mut self, limits: &Limits) -> Result<(), EventRejected> {
        let Some(text) = &mut self.text else { return Ok(()) };
        let size = self.text_bytes.unwrap_or(text.len() as u64);
        if size > limits.turn_text_bytes as u64 {
            *text = text::tail(text, limits.prompt_bytes).to_owned();
        } else if size > text.len() as u64 {
            let message = "`text_bytes` is within the limit of a turn's text, so all of the `text` is needed";
            return Err(EventRejected::malformed(message).at("/text_bytes"));
        }
        self.text_bytes = Some(size).filter(|size| *size > text.len() as u64);
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

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Event, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl<'de> Tagged<'de> for Event {
    const TAG: &'static [&'static str; 1] = &["type"];

    fn read<A: MapAccess<'de>>(name: String, rest: MapAccessDeserializer<A>) -> Result<Event, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct SlotGranted {
            slot_id: String,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct TimerFired {
            interaction_id: u64,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct ProcessLost {
            attempt_number: u32,
            slot_id: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Cancel {
            reason: Option<String>,
        }

        Ok(match name.as_str() {
            "created" => {
                NoMembers::deserialize(rest)?;
                Event::Created {}
            }
            "slot_granted" => {
                let SlotGranted { slot_id } = SlotGranted::deserialize(rest)?;
                Event::SlotGranted { slot_id }
            }
            "turn_finished" => Event::TurnFinished(TurnReport::deserialize(rest)?),
            "turn_decided" => Event::TurnDecided(DecidedTurn::deserialize(rest)?),
            "reply" => Event::Reply(Reply::deserialize(rest)?),
            "timer_fired" => {
                let TimerFired { interaction_id } = TimerFired::deserialize(rest)?;
                Event::TimerFired { interaction_id }
            }
            "process_lost" => {
                let ProcessLost { attempt_number, slot_id } = ProcessLost::deserialize(rest)?;
                Event::ProcessLost { attempt_number, slot_id }
            }
            "cancel" => {
                let Cancel { reason } = Cancel::deserialize(rest)?;
                Event::Cancel { reason }
            }
            other => return Err(A::Error::custom(not_an_event(other))),
        })
    }
}

/// A list that may be null, which counts as empty.
pub(crate) fn or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Null is no output: what `output: parsed ?? null` means.
#[expect(clippy::ref_option, reason = "serde hands over the field")]
fn is_no_output(output: &Option<Value>) -> bool {
    matches!(output, None | Some(Value::Null))
}

pub(crate) fn not_an_event(name: &str) -> String {
    let names = "`slot_granted`, `turn_finished`, `reply`, `timer_fired`, `process_lost` or `cancel`";
    format!("must have the `type` {names}, found {}", text::quoted(name))
}

fn is_code(reason: &str) -> bool {
    (1..=64).contains(&reason.len()) && reason.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
}

fn is_longer(text: &str, characters: usize) -> bool {
    text.chars().nth(characters).is_some()
}

pub(crate) const MAX_KEY_CHARACTERS: usize = 256;
pub(crate) const MAX_REASON_CHARACTERS: usize = 4096;
const MAX_HANDLE_CHARACTERS: usize = 4096;
const MAX_NOTES: usize = 64;
const MAX_NOTE_CHARACTERS: usize = 4096;

#[cfg(test)]
mod tests;
