//! What a skill declares (ADM-6).

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Problem, read_object};
use crate::json::{Map, Value};
use crate::types::codes::Code;
use crate::types::limits::Limits;
use crate::types::plan::Mode;

/// What a skill declares: its `runner.json`, as which it serializes, and its schemas.
///
/// It is checked by [`admit`](crate::admit) and [`describe_skill`](super::describe_skill), which report every problem with its
/// path.
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
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Skill {
    /// The members of `runner.json`.
    pub(super) runner: Map,
    /// Why a text could not be read.
    #[serde(skip)]
    pub(super) fault: Option<Box<Problem>>,
    /// Schemas in files of their own. They replace those of `runner.json`.
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
    /// A skill that declares nothing: it runs in mode `auto`, on any engine.
    pub fn new() -> Skill {
        Skill::default()
    }

    /// Reads the text of a `runner.json`, within a host's limits of its size and depth. If it cannot be read,
    /// [`admit`](crate::admit) says why.
    pub fn from_json(runner: &str, limits: &Limits) -> Skill {
        let read = if runner.len() > limits.manifest_bytes {
            let message = format!("the manifest has {} bytes, the limit is {}", runner.len(), limits.manifest_bytes);
            Err(Box::new(Problem::new(Code::ManifestTooLarge, "runner", message)))
        } else {
            read_object(runner, limits.json_depth, Code::SkillManifestInvalid, "runner", "manifest")
        };
        match read {
            Ok(runner) => Skill { runner, ..Skill::default() },
            Err(problem) => Skill { fault: Some(problem), ..Skill::default() },
        }
    }

    /// The modes it may run in. `auto` alone if not set.
    pub fn modes(self, modes: impl IntoIterator<Item = Mode>) -> Skill {
        self.with("execution_modes", modes.into_iter().map(|mode| json!(mode)).collect())
    }

    /// The engines that may run it. All of the host's if not set.
    pub fn engines(self, names: impl IntoIterator<Item: Into<String>>) -> Skill {
        self.with("engines", strings(names))
    }

    /// The engines that must not.
    pub fn unsupported_engines(self, names: impl IntoIterator<Item: Into<String>>) -> Skill {
        self.with("unsupported_engines", strings(names))
    }

    /// How many turns an interactive run may take. Not limited if not set.
    pub fn max_attempt(self, turns: u32) -> Skill {
        self.with("max_attempt", turns.into())
    }

    /// Paths in the run's folder that must exist for the run to succeed.
    pub fn required_artifacts(self, paths: impl IntoIterator<Item: Into<String>>) -> Skill {
        self.with("required_artifacts", strings(paths))
    }

    /// Whether `format` in its schemas is asserted. It is if not set.
    pub fn assert_formats(self, asserted: bool) -> Skill {
        self.with("assert_formats", asserted.into())
    }

    /// The JSON Schema of an output.
    pub fn output_schema(self, schema: Value) -> Skill {
        self.with("output_schema", schema)
    }

    /// The JSON Schema of a request's `input`.
    pub fn input_schema(self, schema: Value) -> Skill {
        self.with("input_schema", schema)
    }

    /// The JSON Schema of a request's `parameter`.
    pub fn parameter_schema(self, schema: Value) -> Skill {
        self.with("parameter_schema", schema)
    }

    /// Schemas in files of their own, as text.
    pub fn schema_texts(mut self, texts: SchemaTexts) -> Skill {
        self.schema_texts = texts;
        self
    }

    fn with(mut self, name: &str, value: Value) -> Skill {
        self.runner.insert(name.to_owned(), value);
        self
    }
}

fn strings(names: impl IntoIterator<Item: Into<String>>) -> Value {
    names.into_iter().map(|name| Value::String(name.into())).collect()
}
