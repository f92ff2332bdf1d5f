//! Views: what a client of a job API sees (VIEW-1 to VIEW-3).

use serde::Serialize;

use crate::json::{self, Map, Value};
use crate::lifecycle::run::Run;
use crate::text::display_text;
use crate::types::codes::{Code, Note};
use crate::types::decision::Decision;
use crate::types::event::{MAX_KEY_CHARACTERS, MAX_REASON_CHARACTERS};
use crate::types::interaction::{ChoiceOption, InteractionKind, PendingInteraction, Question};
use crate::types::limits::Limits;
use crate::types::plan::Mode;
use crate::types::state::{Outcome, RunError, Status};
use crate::types::time::Timestamp;

/// A run as a client sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct StatusView {
    /// The run's id.
    pub run_id: String,
    /// Where it is.
    pub status: Status,
    /// Whether the user may be asked.
    pub execution_mode: Mode,
    /// What runs its turns.
    pub engine: String,
    /// The number of the last turn that started; 0 before the first.
    pub attempt_number: u32,
    /// How many turns there may be; absent if they are not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempt: Option<u32>,
    /// The question it waits on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_interaction_id: Option<u64>,
    /// What a person should look at: from admission, and from the turn that brought the run where it is.
    pub warnings: Vec<Note>,
    /// Why it ended without success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// Details of the turn that brought the run where it is.
    pub diagnostics: Vec<Note>,
    /// How many questions were asked.
    pub interaction_count: u64,
    /// How many of them the core answered.
    pub auto_decision_count: u64,
    /// The result, if it succeeded with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The result as JSON text: key order kept, integers exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_text: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// How many events have changed it.
    pub revision: u64,
}

/// What a client needs to show the question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct PendingView {
    /// The run's id.
    pub run_id: String,
    /// Where it is.
    pub status: Status,
    /// The question, or null.
    pub pending: Option<InteractionView>,
}

/// A pending question as a client sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct InteractionView {
    /// The id to reply to.
    pub interaction_id: u64,
    /// What is asked.
    #[serde(flatten)]
    pub question: QuestionView,
    /// The turn that asked.
    pub attempt_number: u32,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When waiting ends by itself, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
}

/// What is asked as a client sees it, pending or in an evaluated turn (VIEW-8).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct QuestionView {
    /// How to show it.
    pub kind: InteractionKind,
    /// The question as the agent wrote it.
    pub prompt: String,
    /// The question with control and bidi characters made visible, for logs and terminals (BAD-5).
    pub display_prompt: String,
    /// Answers the agent suggests.
    pub options: Vec<OptionView>,
    /// Hints of the agent for the user interface.
    pub ui_hints: Map,
    /// What an automatic decision goes by.
    pub default_decision_policy: String,
    /// Names of fields the agent would like to have filled in.
    pub required_fields: Vec<String>,
    /// What the agent said around the question.
    pub context: Map,
}

/// A suggested answer as a client sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct OptionView {
    /// What the user sees.
    pub label: String,
    /// Value to send for this option, if the agent supplied one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// Which requests would be taken now, so that a client can enable buttons and predict refusals offline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Allowed {
    /// The run's revision this was said of.
    pub revision: u64,
    /// Every request there is.
    pub requests: Vec<AllowedRequest>,
}

/// Whether one request would be taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct AllowedRequest {
    /// The request: `reply` or `cancel`.
    pub request: &'static str,
    /// Whether it would be taken.
    pub allowed: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The JSON Schema of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Until when, if there is a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
    /// Bytes a response may have, as text or as JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_response_bytes: Option<usize>,
    /// Milliseconds left until then; 0 once the deadline of a resumable wait has passed and no automatic decision is made yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_ms: Option<u64>,
}

impl Run {
    /// The run as a client sees it (VIEW-1).
    pub fn status_view(&self) -> StatusView {
        let plan = self.plan();
        let decision = self.standing_decision();
        let data_text = match self.outcome() {
            Some(Outcome::Succeeded { data_text }) => data_text.clone(),
            Some(Outcome::Failed(_) | Outcome::Canceled(_)) | None => None,
        };
        let mut warnings = plan.warnings.clone();
        warnings.append(&mut decision.map(Decision::warnings).unwrap_or_default());
        let mut diagnostics = self.own_diagnostics();
        diagnostics.extend_from_slice(decision.map_or(&[], |decision| &decision.diagnostics));
        StatusView {
            run_id: plan.run_id.clone(),
            status: self.status(),
            execution_mode: plan.execution_mode,
            engine: plan.engine.clone(),
            attempt_number: self.attempt_number(),
            max_attempt: plan.max_attempt,
            pending_interaction_id: self.pending().map(|pending| pending.interaction_id),
            warnings,
            error: self.outcome().and_then(Outcome::error).cloned(),
            diagnostics,
            interaction_count: self.history().len() as u64 + u64::from(self.pending().is_some()),
            auto_decision_count: self.resolved().auto_decided,
            data: data_text.as_deref().and_then(|text| json::parse_value(text, Limits::MAX_JSON_DEPTH).ok()),
            data_text,
            created_at: self.created_at(),
            updated_at: self.updated_at(),
            revision: self.revision(),
        }
    }

    /// The pending question as a client sees it, or null (VIEW-2).
    pub fn pending_view(&self) -> PendingView {
        PendingView {
            run_id: self.plan().run_id.clone(),
            status: self.status(),
            pending: self.pending().map(InteractionView::from),
        }
    }

    /// The requests that would be taken now, and for the others the reason (VIEW-3).
    pub fn allowed(&self, now: Timestamp) -> Allowed {
        Allowed { revision: self.revision(), requests: vec![self.allowed_reply(now), self.allowed_cancel(now)] }
    }

    fn allowed_reply(&self, now: Timestamp) -> AllowedRequest {
        let Some(pending) = self.pending() else {
            let code = if self.plan().is_interactive() { Code::RunNotWaitingUser } else { Code::RunNotInteractive };
            return AllowedRequest::refused("reply", code);
        };
        let now = now.max(self.updated_at());
        if self.overdue(now).is_some() {
            return AllowedRequest::refused("reply", Code::StaleInteraction);
        }
        AllowedRequest {
            arguments: Some(reply_schema(pending.interaction_id)),
            max_response_bytes: Some(self.plan().limits.reply_bytes),
            deadline_at: pending.deadline_at,
            remaining_ms: pending.deadline_at.map(|deadline| deadline.millis_since(now)),
            request: "reply",
            allowed: true,
            ..AllowedRequest::default()
        }
    }

    fn allowed_cancel(&self, now: Timestamp) -> AllowedRequest {
        let fails = self.plan().require_user_reply && self.overdue(now.max(self.updated_at())).is_some();
        if self.status().is_end() || fails {
            return AllowedRequest::refused("cancel", Code::RunAlreadyEnded);
        }
        let arguments = Some(cancel_schema());
        AllowedRequest { request: "cancel", allowed: true, arguments, ..AllowedRequest::default() }
    }
}

impl AllowedRequest {
    fn refused(request: &'static str, code: Code) -> AllowedRequest {
        AllowedRequest { request, code: Some(code), ..AllowedRequest::default() }
    }
}

impl From<&PendingInteraction> for InteractionView {
    fn from(pending: &PendingInteraction) -> InteractionView {
        InteractionView {
            interaction_id: pending.interaction_id,
            question: QuestionView::from(&*pending.question),
            attempt_number: pending.attempt_number,
            asked_at: pending.asked_at,
            deadline_at: pending.deadline_at,
        }
    }
}

impl From<&Question> for QuestionView {
    fn from(question: &Question) -> QuestionView {
        QuestionView {
            kind: question.kind,
            prompt: question.prompt.clone(),
            display_prompt: display_text(&question.prompt).into_owned(),
            options: question.options.iter().map(OptionView::from).collect(),
            ui_hints: question.ui_hints.to_map(),
            default_decision_policy: question.default_decision_policy.to_string(),
            required_fields: question.required_fields.clone(),
            context: question.context.to_map(),
        }
    }
}

impl From<&ChoiceOption> for OptionView {
    fn from(option: &ChoiceOption) -> OptionView {
        OptionView { label: option.label.clone(), value: option.value.clone() }
    }
}

fn reply_schema(interaction_id: u64) -> Value {
    schema(&format!(
        r#"{{"type":"object","properties":{{"interaction_id":{{"const":{interaction_id}}},"response":{{}},"idempotency_key":{{"type":"string","minLength":1,"maxLength":{MAX_KEY_CHARACTERS}}},"expected_revision":{{"type":"integer","minimum":0}}}},"required":["interaction_id","response"],"additionalProperties":false}}"#
    ))
}

fn cancel_schema() -> Value {
    schema(&format!(
        r#"{{"type":"object","properties":{{"reason":{{"type":"string","maxLength":{MAX_REASON_CHARACTERS}}}}},"additionalProperties":false}}"#
    ))
}

/// A schema of our own, as text, because building it member by member takes ten times as much code.
fn schema(text: &str) -> Value {
    json::build(text).unwrap_or_default()
}
