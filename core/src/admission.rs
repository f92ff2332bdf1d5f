//! Admission: a skill and a request become a plan, or an error that lists every problem (ADM-1 to ADM-9).
//!
//! [`Skill`] and [`RunRequest`] hold what JSON text gave even if it is invalid, so that the problems of both are reported at
//! once. However they were made, they are checked in one way: by what their members are as JSON.

mod lint;
mod manifest;
pub(crate) mod plan;
mod request;
mod skill;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::json::{self, Map, Value, json_text};
use crate::schema::{Check, OutputSchema};
use crate::text;
use crate::types::codes::{Code, Note};
use crate::types::limits::Limits;
use crate::types::plan::Mode;
use crate::types::strict;
use manifest::ParsedSkill;
pub use plan::{Plan, PlanSettings};
use request::Options;
pub use request::RunRequest;
pub(crate) use request::read_request;
pub use skill::{SchemaTexts, Skill};

/// What the host brings along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSettings {
    /// The names of the engines it can run.
    pub engines: Vec<String>,
    /// Its limits.
    #[serde(default)]
    pub limits: Limits,
}

impl HostSettings {
    /// Reads the settings of a host.
    ///
    /// # Errors
    /// [`AdmissionError`] with `OPTION_INVALID`, if they are not in the documented form.
    pub fn from_value(given: Value) -> Result<HostSettings, AdmissionError> {
        strict::from_value(given).map_err(|invalid| {
            let path = invalid.pointer().trim_start_matches('/').to_owned();
            AdmissionError::of(vec![Problem::new(Code::OptionInvalid, path, invalid.sentence("the host"))])
        })
    }
}

/// Admission said no; there is no run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct AdmissionError {
    /// The code of the first problem.
    pub code: Code,
    /// The message of the first problem.
    pub message: String,
    /// Every problem that was found.
    pub problems: Vec<Problem>,
}

/// One reason why a run was not admitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// What it is.
    pub code: Code,
    /// Where: a JSON pointer behind `request`, `runner`, `output_schema`, `input_schema`, `parameter_schema` or `limits`.
    pub path: String,
    /// What was found and what was expected.
    pub message: String,
    /// The values it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl Problem {
    pub(crate) fn new(code: Code, path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { code, path: path.into(), message: message.into(), details: None }
    }
}

impl AdmissionError {
    /// There is at least one problem.
    pub(crate) fn of(problems: Vec<Problem>) -> AdmissionError {
        let first = problems.first();
        let code = first.map_or(Code::RequestMalformed, |first| first.code);
        let message = first.map(|first| first.message.clone()).unwrap_or_default();
        AdmissionError { code, message, problems }
    }

    /// The stable code of the first problem.
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// The HTTP status of a response that carries it.
    pub const fn http_status(&self) -> u16 {
        self.code.http()
    }
}

impl HostSettings {
    /// A host with these engines and the default limits.
    pub fn with_engines(engines: impl IntoIterator<Item: Into<String>>) -> HostSettings {
        HostSettings { engines: engines.into_iter().map(Into::into).collect(), limits: Limits::DEFAULT }
    }
}

/// Makes a plan of a skill and a request.
///
/// # Errors
/// [`AdmissionError`] with every problem at once, if there is one.
pub fn admit(skill: &Skill, request: &RunRequest, host: &HostSettings) -> Result<Arc<Plan>, AdmissionError> {
    let mut problems = Vec::new();
    for name in host.limits.problems() {
        problems.push(Problem::new(Code::OptionInvalid, format!("limits/{name}"), "the limit is out of range"));
    }
    let options = Options::read(request, &mut problems);
    let skill = ParsedSkill::read(skill, host, &mut problems);
    // What could not be read at all has been reported, and nothing else can be said about it.
    if let Some(options) = &options {
        check_mode(options, &skill, &mut problems);
        check_engine(options, &skill, &mut problems);
        problems.extend_from_slice(&options.settings_problems);
        check_input("input", options.input.as_ref(), skill.input_schema.as_ref(), &mut problems);
        check_input("parameter", options.parameter.as_ref(), skill.parameter_schema.as_ref(), &mut problems);
    }
    let Options { run_id, mut settings, .. } = match options {
        Some(options) if problems.is_empty() => options,
        _ => return Err(AdmissionError::of(problems)),
    };

    let mode = settings.execution_mode;
    settings.warnings.extend(skill.warnings);
    settings.warnings.extend(lint::gate_warnings(mode, skill.output_schema.as_ref()));
    settings.max_attempt = skill.max_attempt.filter(|_| mode == Mode::Interactive);
    settings.required_artifacts = skill.required_artifacts;
    settings.output_schema = skill.output_schema;
    settings.assert_formats = skill.assert_formats;
    settings.limits = host.limits;
    Ok(Arc::new(Plan::new(run_id, settings)))
}

/// What can be asked of a skill, for somebody who wants to choose (ADM-13).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct SkillView {
    /// The modes it declares; empty if that could not be read.
    pub execution_modes: Vec<Mode>,
    /// The engines that may run it here; empty if that could not be read.
    pub engines: Vec<String>,
    /// How many turns it may take in interactive mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempt: Option<u32>,
    /// Why no request for it would be admitted.
    pub problems: Vec<Problem>,
    /// What is odd about its manifest; every run of it has these warnings.
    pub warnings: Vec<Note>,
}

/// Reads a skill's manifest and schemas without a request.
pub fn describe_skill(skill: &Skill, host: &HostSettings) -> SkillView {
    let mut problems = Vec::new();
    let skill = ParsedSkill::read(skill, host, &mut problems);
    SkillView {
        execution_modes: skill.execution_modes.unwrap_or_default(),
        engines: skill.engines.map(|engines| engines.effective).unwrap_or_default(),
        max_attempt: skill.max_attempt,
        problems,
        warnings: skill.warnings,
    }
}

/// Whether a text can be a run's id: it stands in paths, slot ids and effect ids.
pub(crate) fn is_run_id(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-'))
}

/// ADM-2. A mode or manifest that could not be read has been reported already.
fn check_mode(options: &Options, skill: &ParsedSkill, problems: &mut Vec<Problem>) {
    let (Some(requested), Some(declared)) = (options.execution_mode, &skill.execution_modes) else { return };
    if !declared.contains(&requested) {
        let names: Vec<_> = declared.iter().map(|mode| mode.as_str()).collect();
        let message = format!("the skill declares {}, not `{}`", name_list(&names), requested.as_str());
        let mut problem = Problem::new(Code::SkillExecutionModeUnsupported, "request/execution_mode", message);
        problem.details = Some(json!({ "requested": requested, "declared": declared }));
        problems.push(problem);
    }
}

/// ADM-3.
fn check_engine(options: &Options, skill: &ParsedSkill, problems: &mut Vec<Problem>) {
    if options.settings.engine.is_empty() {
        problems.push(Problem::new(Code::OptionInvalid, "request/engine", "expected the name of an engine"));
        return;
    }
    let Some(engines) = skill.engines.as_ref().filter(|engines| !engines.effective.contains(&options.settings.engine))
    else {
        return;
    };
    let message = format!("{} is not among {}", text::quoted(&options.settings.engine), name_list(&engines.effective));
    let mut problem = Problem::new(Code::SkillEngineUnsupported, "request/engine", message);
    problem.details = Some(json!({
        "requested": options.settings.engine,
        "declared": engines.declared,
        "unsupported": engines.unsupported,
        "effective": engines.effective,
    }));
    problems.push(problem);
}

/// ADM-9. What is absent counts as an empty object.
fn check_input(name: &str, given: Option<&Value>, schema: Option<&OutputSchema>, problems: &mut Vec<Problem>) {
    let Some(schema) = schema else { return };
    let empty = Value::Object(Map::new());
    match schema.check(given.unwrap_or(&empty)) {
        // Without a validator the schema itself has been refused.
        Check::Valid | Check::NoValidator => {}
        Check::TooMuchWork => problems.push(Problem::new(
            Code::InputInvalid,
            format!("request/{name}"),
            "checking it against the schema would take too much work",
        )),
        Check::Invalid(violations) => problems.extend(violations.into_iter().map(|violation| {
            let path = format!("request/{name}{}", violation.instance_path);
            let details = json!({ "schema_path": violation.schema_path });
            Problem { details: Some(details), ..Problem::new(Code::InputInvalid, path, violation.message) }
        })),
    }
}

fn name_list(names: &[impl AsRef<str>]) -> String {
    if names.is_empty() { "none".to_owned() } else { text::quoted_list(names) }
}

/// A value from outside as it may stand in a message.
pub(crate) fn found(value: &Value) -> String {
    format!("found {}", text::quoted(&json_text(value)))
}

/// The members of a text that is one object, each named once.
pub(crate) fn read_object(text: &str, depth: usize, code: Code, path: &str, what: &str) -> Result<Map, Box<Problem>> {
    let message = match json::parse_value(text, depth.min(Limits::MAX_JSON_DEPTH)) {
        Ok(Value::Object(members)) => return Ok(members),
        Ok(other) => format!("expected a JSON object, {}", found(&other)),
        Err(fault) => format!("the {what} cannot be read: {fault}"),
    };
    Err(Box::new(Problem::new(code, path, message)))
}
