//! What the completion gates made of a finished turn, as data. Sentences are rendered on demand, so a decision is small.

use std::fmt;
use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::text;
use crate::types::codes::{Code, Note};
use crate::types::event::or_null;
use crate::types::interaction::Question;
use crate::types::state::Status;

/// Why a turn ended as it did.
///
/// The failure's code, the warnings and the sentences follow from it; `explain` and the views write them out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// What the run becomes.
    pub outcome: Verdict,
    /// The gate that decided.
    pub rule: Gate,
    /// What the turn showed.
    pub evidence: Evidence,
    /// Details.
    #[serde(default, deserialize_with = "or_null", skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Note>,
    /// Every gate that was asked, in order, and why it passed or decided. The last one decided.
    pub checks: Box<[Check]>,
}

/// What a finished turn makes of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The run is complete.
    Succeeded,
    /// The run has failed.
    Failed,
    /// The run waits for the user.
    WaitingUser,
}

/// One gate's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// The gate.
    pub gate: Gate,
    /// Whether it decided.
    pub result: CheckResult,
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
}

/// A completion gate, by the id of its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub enum Gate {
    /// Did the agent's process end well?
    #[serde(rename = "GATE-1")]
    Process,
    /// Mode `auto`: is there a valid output?
    #[serde(rename = "GATE-2")]
    AutoOutput,
    /// Is there a done marker, and a valid output?
    #[serde(rename = "GATE-3")]
    DoneMarker,
    /// Is there a done marker, and no valid output?
    #[serde(rename = "GATE-4")]
    DoneWithoutOutput,
    /// Is there a valid output without a done marker?
    #[serde(rename = "GATE-5")]
    SoftCompletion,
    /// Is an attempt left?
    #[serde(rename = "GATE-6")]
    Attempts,
    /// Nothing else decided: the run waits.
    #[serde(rename = "GATE-7")]
    Wait,
    /// Do the required artifacts exist?
    #[serde(rename = "GATE-8")]
    Artifacts,
    /// May the run ask another question?
    #[serde(rename = "GATE-11")]
    InteractionLimit,
}

/// Whether a gate decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// It did not; the next one is asked.
    Passed,
    /// It did.
    Decided,
}

/// Why a gate passed or decided: a stable word with its parameters. `Display` is the sentence, derived by `thiserror`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each variant has its sentence")]
pub enum Reason {
    #[error("the process ended well")]
    ProcessSucceeded,
    #[error("{0}")]
    ProcessFailed(Box<ProcessFailure>),
    #[error("the output fits the schema")]
    OutputValid,
    #[error("there is no schema to check the output with")]
    NoSchema,
    #[error("there is no output object")]
    OutputMissing,
    #[error("the output is not JSON that can be taken")]
    OutputUnparsable,
    #[error("the output does not fit the schema")]
    OutputInvalid,
    #[error("the output fits the schema, but it is not an object")]
    OutputNotObject,
    #[error("no done marker")]
    NoDoneMarker,
    #[error("the agent says it is not done")]
    DoneMarkerDeclined,
    #[error("the agent says it is done and the output fits the schema")]
    DoneWithValidOutput,
    #[error("the agent says it is done and there is no schema to check the output with")]
    DoneWithoutSchema,
    #[error("the agent says it is done, but there is no valid output")]
    DoneWithoutValidOutput,
    #[error("the output fits the schema, but soft completion is switched off")]
    SoftCompletionOff,
    #[error("the output fits the schema, but the same turn asks the user")]
    AsksUser,
    #[error("attempts are not limited")]
    AttemptsUnlimited,
    #[error("attempt {attempt} of {max_attempt}")]
    AttemptsLeft { attempt: u32, max_attempt: u32 },
    #[error("no attempt is left and the output fits the schema")]
    LastAttempt,
    #[error("attempt {attempt} of {max_attempt} ended without evidence of completion")]
    AttemptsExhausted { attempt: u32, max_attempt: u32 },
    #[error("the run waits for the user")]
    WaitsForUser,
    #[error("every required artifact exists")]
    ArtifactsPresent,
    #[error("missing: {}", text::quoted_list(paths))]
    ArtifactsMissing { paths: Box<Vec<String>> },
    #[error("questions asked: {interactions}, as many as the limit allows")]
    InteractionLimitReached { interactions: u64 },
}

/// How a turn's process failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[error("the turn failed{}", exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default())]
#[serde(deny_unknown_fields)]
pub struct ProcessFailure {
    /// The code: the host's `failure_reason`, or `PROCESS_FAILED`.
    pub code: String,
    /// The exit code, if it was not 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

/// A decision and what the run continues with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// The decision.
    pub decision: Decision,
    /// The result's JSON text, if the run succeeded with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_text: Option<String>,
    /// What to ask, if the run waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Arc<Question>>,
}

/// What a turn shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Whether the agent said that it is done.
    pub marker: Marker,
    /// What became of the output.
    pub output: OutputState,
    /// Where the output was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Whether the turn carries a well-formed question.
    pub asks: bool,
    /// Where the output does not fit the schema; the first ones.
    #[serde(default, deserialize_with = "or_null", skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// What the agent said about being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Marker {
    /// Nothing.
    #[default]
    Absent,
    /// That it is not: `"__SKILL_DONE__": false`.
    Declined,
    /// That it is.
    Found,
}

/// What became of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutputState {
    /// There is none.
    #[default]
    Missing,
    /// There is something that was meant as one and cannot be read.
    Unparsable,
    /// It does not fit the schema.
    Invalid,
    /// It fits the schema.
    Valid,
    /// There is one, and no schema to check it with.
    Unchecked,
}

/// Where the output was found, in the order of looking (OUT-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The host handed it over as a value.
    Host,
    /// It is the whole text of a message.
    WholeText,
    /// In a fenced block tagged json.
    JsonFence,
    /// In another fenced block.
    Fence,
    /// In prose.
    Prose,
}

/// One way in which an instance does not fit its schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// Where in the instance, as a JSON pointer; empty for the whole.
    pub instance_path: String,
    /// The keyword that was not met, as a JSON pointer into the schema.
    pub schema_path: String,
    /// What the schema asks for; values of the instance are not repeated.
    pub message: String,
}

impl Decision {
    /// The failure's code.
    pub fn code(&self) -> Option<&str> {
        self.checks.last().filter(|_| self.outcome == Verdict::Failed).and_then(|check| check.reason.code())
    }

    /// What the user should look at.
    pub fn warnings(&self) -> Vec<Note> {
        let mut warnings = Vec::new();
        if matches!(self.evidence.source, Some(Source::JsonFence | Source::Fence | Source::Prose)) {
            warnings.push(Note::new(Code::OutputRepairedGeneric, "the output was found inside other text"));
        }
        let is_soft = matches!(self.rule, Gate::SoftCompletion | Gate::Attempts);
        if is_soft && self.outcome == Verdict::Succeeded {
            let message = "the output fits the schema, but the agent did not say it was done";
            warnings.push(Note::new(Code::InteractiveCompletedWithoutDoneMarker, message));
        }
        warnings
    }

    /// The decision in a sentence.
    pub fn message(&self) -> String {
        let reason_of = |gate| self.checks.iter().rfind(|check| check.gate == gate).map(|check| &check.reason);
        match (self.outcome, self.checks.last()) {
            (Verdict::Succeeded, _) | (_, None) => "the run is complete".to_owned(),
            (Verdict::Failed, Some(check)) => check.reason.to_string(),
            (Verdict::WaitingUser, Some(check)) => {
                let held_back = reason_of(Gate::SoftCompletion).map(|reason| format!(": {reason}"));
                format!("{}{}", check.reason, held_back.unwrap_or_default())
            }
        }
    }
}

impl Evaluation {
    /// Whether the parts belong together; a recorded evaluation may come from anywhere.
    pub(crate) fn is_coherent(&self) -> bool {
        let Decision { outcome, rule, checks, .. } = &self.decision;
        let Some((last, others)) = checks.split_last() else { return false };
        let only_last_decided =
            last.result == CheckResult::Decided && others.iter().all(|check| check.result == CheckResult::Passed);
        let fails = last.reason.code().is_some_and(|code| !code.is_empty());
        let (asks, has_data) = (self.question.is_some(), self.data_text.is_some());
        only_last_decided
            && last.gate == *rule
            && match outcome {
                Verdict::Succeeded => !fails && !asks,
                Verdict::Failed => fails && !asks && !has_data,
                Verdict::WaitingUser => !fails && asks && !has_data,
            }
    }
}

impl Verdict {
    /// The status of a run that was judged so.
    pub const fn status(self) -> Status {
        match self {
            Verdict::Succeeded => Status::Succeeded,
            Verdict::Failed => Status::Failed,
            Verdict::WaitingUser => Status::WaitingUser,
        }
    }
}

/// The id of the rule.
impl fmt::Display for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

impl Reason {
    /// The code of a failure for this reason, if a run can fail for it.
    pub fn code(&self) -> Option<&str> {
        let code = match self {
            Reason::ProcessFailed(failure) => return Some(&failure.code),
            Reason::OutputMissing => Code::OutputMissing,
            Reason::OutputUnparsable => Code::OutputUnparsable,
            Reason::OutputInvalid => Code::OutputSchemaInvalid,
            Reason::AttemptsExhausted { .. } => Code::InteractiveMaxAttemptExceeded,
            Reason::ArtifactsMissing { .. } => Code::ArtifactMissing,
            Reason::InteractionLimitReached { .. } => Code::InteractionLimitExceeded,
            Reason::ProcessSucceeded
            | Reason::OutputValid
            | Reason::NoSchema
            | Reason::OutputNotObject
            | Reason::NoDoneMarker
            | Reason::DoneMarkerDeclined
            | Reason::DoneWithValidOutput
            | Reason::DoneWithoutSchema
            | Reason::DoneWithoutValidOutput
            | Reason::SoftCompletionOff
            | Reason::AsksUser
            | Reason::AttemptsUnlimited
            | Reason::AttemptsLeft { .. }
            | Reason::LastAttempt
            | Reason::WaitsForUser
            | Reason::ArtifactsPresent => return None,
        };
        Some(code.as_str())
    }
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Check, D::Error> {
        let mut members = CheckMembers::deserialize(deserializer)?;
        match members.take_reason().filter(|_| !members.has_parameters()) {
            Some(reason) => Ok(Check { gate: members.gate, result: members.result, reason }),
            None => Err(D::Error::custom("has no gate's `reason` with its parameters")),
        }
    }
}

/// A check as it is read. By hand, because `serde` cannot deny unknown members beside flattened ones, and what it derives for
/// them is a twentieth of what a browser downloads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckMembers {
    gate: Gate,
    result: CheckResult,
    reason: String,
    attempt: Option<u32>,
    max_attempt: Option<u32>,
    code: Option<String>,
    exit_code: Option<i64>,
    paths: Option<Vec<String>>,
    interactions: Option<u64>,
}

impl CheckMembers {
    /// The reason, which takes its parameters.
    fn take_reason(&mut self) -> Option<Reason> {
        Some(match self.reason.as_str() {
            "process_succeeded" => Reason::ProcessSucceeded,
            "process_failed" => {
                let (code, exit_code) = (self.code.take()?, self.exit_code.take());
                Reason::ProcessFailed(Box::new(ProcessFailure { code, exit_code }))
            }
            "output_valid" => Reason::OutputValid,
            "no_schema" => Reason::NoSchema,
            "output_missing" => Reason::OutputMissing,
            "output_unparsable" => Reason::OutputUnparsable,
            "output_invalid" => Reason::OutputInvalid,
            "output_not_object" => Reason::OutputNotObject,
            "no_done_marker" => Reason::NoDoneMarker,
            "done_marker_declined" => Reason::DoneMarkerDeclined,
            "done_with_valid_output" => Reason::DoneWithValidOutput,
            "done_without_schema" => Reason::DoneWithoutSchema,
            "done_without_valid_output" => Reason::DoneWithoutValidOutput,
            "soft_completion_off" => Reason::SoftCompletionOff,
            "asks_user" => Reason::AsksUser,
            "attempts_unlimited" => Reason::AttemptsUnlimited,
            "attempts_left" => {
                Reason::AttemptsLeft { attempt: self.attempt.take()?, max_attempt: self.max_attempt.take()? }
            }
            "last_attempt" => Reason::LastAttempt,
            "attempts_exhausted" => {
                Reason::AttemptsExhausted { attempt: self.attempt.take()?, max_attempt: self.max_attempt.take()? }
            }
            "waits_for_user" => Reason::WaitsForUser,
            "artifacts_present" => Reason::ArtifactsPresent,
            "artifacts_missing" => Reason::ArtifactsMissing { paths: Box::new(self.paths.take()?) },
            "interaction_limit_reached" => Reason::InteractionLimitReached { interactions: self.interactions.take()? },
            _ => return None,
        })
    }

    fn has_parameters(&self) -> bool {
        self.attempt.is_some()
            || self.max_attempt.is_some()
            || self.code.is_some()
            || self.exit_code.is_some()
            || self.paths.is_some()
            || self.interactions.is_some()
    }
}
