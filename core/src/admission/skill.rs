//! What a skill declares (ADM-6).

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Problem, read_object, setters, typed_members};
use crate::json::{self, Map, Value};
use crate::types::codes::Code;
use crate::types::limits::Limits;
use crate::types::plan::Mode;

/// What a skill declares: its `runner.json`, as which it serializes, and its schemas.
///
/// Nothing is checked before [`admit`](crate::admit) and [`describe_skill`](super::describe_skill), which report every
/// problem with its path.
///
/// ```
/// use serde_json::json;
/// use turnlatch::{Mode, Skill};
///
/// let skill = Skill::new().modes([Mode::Auto, Mode::Interactive]).max_attempt(5).output_schema(json!({"type": "object"}));
/// let runner = r#"{"execution_modes": ["auto", "interactive"], "max_attempt": 5, "output_schema": {"type": "object"}}"#;
/// assert_eq!(skill, serde_json::from_str(runner)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skill {
    /// Members of a text that are not the core's, or whose value is invalid. They come first, so that the fields replace them.
    #[serde(flatten, skip_deserializing)]
    unread: Map,
    /// Why a text could not be read at all.
    #[serde(skip)]
    pub(super) fault: Option<Box<Problem>>,
    /// The modes it may run in; auto alone if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_modes: Option<Vec<Mode>>,
    /// The engines that may run it; all of the host's if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engines: Option<Vec<String>>,
    /// The engines that must not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupported_engines: Option<Vec<String>>,
    /// How many turns an interactive run may take; not limited if absent.
    #[serde(deserialize_with = "max_attempt", skip_serializing_if = "Option::is_none")]
    pub max_attempt: Option<u32>,
    /// Paths in the run's folder that must exist for the run to succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_artifacts: Option<Vec<String>>,
    /// The JSON Schema of an output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The JSON Schema of a request's `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// The JSON Schema of a request's `parameter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter_schema: Option<Value>,
    /// Schemas in files of their own. They replace those above and are not part of `runner.json`.
    #[serde(skip)]
    pub schema_texts: SchemaTexts,
}

/// The texts of a skill's schemas, kept as they are: a member that stands twice is a problem, and a plan has the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaTexts {
    /// The text of the output schema.
    pub output_schema: Option<String>,
    /// The text of the schema of a request's `input`.
    pub input_schema: Option<String>,
    /// The text of the schema of a request's `parameter`.
    pub parameter_schema: Option<String>,
}

impl Skill {
    /// A skill that declares nothing: it runs in auto mode, on any engine.
    #[must_use]
    pub fn new() -> Skill {
        Skill::default()
    }

    /// Reads the text of a `runner.json`, within a host's limits of its size and depth.
    ///
    /// What cannot be read is kept, so that [`admit`](crate::admit) reports every problem of the skill and of a request at once.
    #[must_use]
    pub fn from_json(runner: &str, limits: &Limits) -> Skill {
        let read = if runner.len() > limits.manifest_bytes {
            let message = format!("the manifest has {} bytes, the limit is {}", runner.len(), limits.manifest_bytes);
            Err(Box::new(Problem::new(Code::ManifestTooLarge, "runner", message)))
        } else {
            read_object(runner, limits.json_depth, Code::SkillManifestInvalid, "runner", "manifest")
        };
        match read.map(typed_members) {
            Ok((skill, unread)) => Skill { unread, ..skill },
            Err(problem) => Skill { fault: Some(problem), ..Skill::default() },
        }
    }

    setters! {
        modes(modes: impl IntoIterator<Item = Mode>) => execution_modes = modes.into_iter().collect();
        engines(names: impl IntoIterator<Item: Into<String>>) => engines = strings(names);
        unsupported_engines(names: impl IntoIterator<Item: Into<String>>) => unsupported_engines = strings(names);
        max_attempt(turns: u32) => max_attempt = turns;
        required_artifacts(paths: impl IntoIterator<Item: Into<String>>) => required_artifacts = strings(paths);
        output_schema(schema: Value) => output_schema = schema;
        input_schema(schema: Value) => input_schema = schema;
        parameter_schema(schema: Value) => parameter_schema = schema;
    }

    /// Schemas in files of their own, as text.
    #[must_use]
    pub fn schema_texts(mut self, texts: SchemaTexts) -> Skill {
        self.schema_texts = texts;
        self
    }
}

/// How many turns a skill may ask for: at least one.
pub(super) fn turns(value: &Value) -> Option<u32> {
    json::whole_number(value).and_then(|number| u32::try_from(number).ok()).filter(|number| *number >= 1)
}

fn max_attempt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let number = turns(&Value::deserialize(deserializer)?);
    number.map(Some).ok_or_else(|| D::Error::custom(format!("must be an integer from 1 to {}", u32::MAX)))
}

fn strings(names: impl IntoIterator<Item: Into<String>>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}
