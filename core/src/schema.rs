//! Schemas from untrusted packages: admitted only if they are whole, linear and bounded (BAD-3).

#[cfg(feature = "schema-engine")]
mod cost;
pub(crate) mod shared;
#[cfg(all(feature = "schema-engine", feature = "flat-documents"))]
mod tape;
#[cfg_attr(not(feature = "schema-engine"), path = "schema/no_validator.rs")]
mod validator;

#[cfg(test)]
#[cfg(feature = "schema-engine")]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use self::shared::Shared;
use self::validator::SchemaValidator;
use crate::json::json_text;
use crate::json::{self, Document, Map, Value};
use crate::text::{display_text, head};
use crate::types::codes::Code;
use crate::types::decision::Violation;
use crate::types::limits::{self, Limits};

/// A compiled schema; cheap to clone.
#[derive(Clone)]
pub struct OutputSchema(Arc<Compiled>);

struct Compiled {
    text: String,
    /// The limit it was held to.
    json_depth: usize,
    /// None in a build without the schema engine: the run can be shown, but none of its turns evaluated.
    validator: Option<SchemaValidator>,
    formats: Formats,
    declared: Vec<String>,
    excludes_objects: bool,
}

/// What the keyword `format` of a schema does (ADM-14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formats {
    /// A text that is not in its format does not fit.
    #[default]
    Assert,
    /// It says something about texts, and judges none.
    Annotate,
}

static COMPILED: Shared<Compiled> = Shared::new();
/// The last ones are kept alive: runs of one skill may come one after the other.
static RECENT: Mutex<Vec<Arc<Compiled>>> = Mutex::new(Vec::new());

/// One reason why a text is not a schema that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaProblem {
    /// What it is.
    pub code: Code,
    /// Where it stands in the schema, as a JSON pointer; empty for the whole.
    pub path: String,
    /// What was found.
    pub message: String,
}

/// How an instance fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// It fits the schema.
    Valid,
    /// It does not; up to 20 of the reasons, at least one.
    Invalid(Vec<Violation>),
    /// Finding out would take more work than is allowed; it counts as not valid.
    TooMuchWork,
    /// There is no validator (a build without the schema engine); it counts as not valid.
    NoValidator,
}

impl Check {
    /// What came of listing the reasons why an instance does not fit; there may be none.
    pub fn invalid(found: impl IntoIterator<Item = Violation>) -> Check {
        let mut violations = Vec::new();
        for violation in found {
            // The same definition may be reached by several ways.
            if !violations.contains(&violation) {
                violations.push(violation);
            }
            if violations.len() == MAX_VIOLATIONS {
                break;
            }
        }
        Check::Invalid(if violations.is_empty() { vec![Violation::unlisted()] } else { violations })
    }
}

impl OutputSchema {
    /// Compiles a schema from its JSON text; a text without `$schema` follows draft 2020-12, and formats are asserted.
    ///
    /// # Errors
    /// As [`compile_with`](OutputSchema::compile_with).
    pub fn compile(text: &str, limits: &Limits) -> Result<OutputSchema, Vec<SchemaProblem>> {
        OutputSchema::compile_with(text, limits, Formats::Assert)
    }

    /// The same, where formats may be annotations.
    ///
    /// # Errors
    /// All problems that were found, at least one: the text is too large or no valid schema, it refers to something
    /// outside, has a pattern that cannot be matched in linear time, or could take unbounded work.
    pub fn compile_with(text: &str, limits: &Limits, formats: Formats) -> Result<OutputSchema, Vec<SchemaProblem>> {
        if text.len() > limits.schema_bytes {
            let message = format!("the schema has {} bytes, more than {}", text.len(), limits.schema_bytes);
            return Err(vec![SchemaProblem::new(Code::SchemaTooLarge, "", &message)]);
        }
        let is_same =
            |known: &Compiled| known.json_depth == limits.json_depth && known.formats == formats && known.text == text;
        if let Some(compiled) = COMPILED.find(is_same) {
            return Ok(OutputSchema(compiled));
        }
        let invalid = |message: &str| vec![SchemaProblem::new(Code::SkillManifestInvalid, "", message)];
        let schema = json::parse_value(text, limits.json_depth);
        let schema = schema.map_err(|fault| invalid(&format!("the schema cannot be read: {fault}")))?;
        if !(schema.is_object() || schema.is_boolean()) {
            return Err(invalid("a schema must be an object or a boolean"));
        }
        let validator = SchemaValidator::compile(text, &schema, formats)?;
        let (declared, excludes_objects) = lint(&schema);
        let (text, json_depth) = (text.to_owned(), limits.json_depth);
        let compiled = COMPILED.add(Compiled { text, json_depth, validator, formats, declared, excludes_objects });
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == MAX_RECENT {
            recent.remove(0);
        }
        recent.push(compiled.clone());
        Ok(OutputSchema(compiled))
    }

    /// The source text, as it was given.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Checks an instance.
    pub fn check(&self, instance: &Value) -> Check {
        if limits::depth(instance) > Limits::MAX_JSON_DEPTH {
            return Check::TooMuchWork;
        }
        // What was written from a value has no key twice.
        Document::read_scanned(&json_text(instance))
            .map_or(Check::TooMuchWork, |document| self.check_document(&document))
    }

    /// Checks an instance that has been read.
    pub(crate) fn check_document(&self, instance: &Document<'_>) -> Check {
        self.0.validator.as_ref().map_or(Check::NoValidator, |validator| validator.check(instance))
    }

    /// Whether an instance, given as strict JSON text, fits.
    pub(crate) fn accepts(&self, instance: &str) -> bool {
        Document::read_scanned(instance).is_ok_and(|instance| self.check_document(&instance) == Check::Valid)
    }

    /// How much work a verdict on an instance is counted as, if it may be done: the measure by which the tests show that no
    /// schema makes a verdict explode.
    #[doc(hidden)]
    pub fn counted_work(&self, instance: &Value) -> Option<u64> {
        self.0.validator.as_ref().and_then(|validator| validator.counted_work(instance))
    }

    /// Whether instances can be checked. They always can, unless this was built without the schema engine.
    pub fn can_check(&self) -> bool {
        self.0.validator.is_some()
    }

    /// The same schema with formats that judge nothing.
    pub(crate) fn annotating_formats(&self) -> OutputSchema {
        OutputSchema::compile_with(self.text(), &ADMITTED, Formats::Annotate).unwrap_or_else(|_| self.clone())
    }

    /// Whether both are one compiled schema, not only one text.
    pub(crate) fn is_shared_with(&self, other: &OutputSchema) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the top level has a `type` that no object is of.
    pub(crate) fn excludes_objects(&self) -> bool {
        self.0.excludes_objects
    }

    /// Whether the top level names this property, in `properties` or `required`.
    pub(crate) fn declares(&self, property: &str) -> bool {
        self.0.declared.iter().any(|name| name == property)
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("OutputSchema").field(&self.text()).finish()
    }
}

impl PartialEq for OutputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.is_shared_with(other) || self.text() == other.text()
    }
}

impl Eq for OutputSchema {}

impl Serialize for OutputSchema {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl<'de> Deserialize<'de> for OutputSchema {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<OutputSchema, D::Error> {
        let text = String::deserialize(deserializer)?;
        OutputSchema::compile(&text, &ADMITTED).map_err(|problems| {
            let first = problems.first().map_or("", |problem| &problem.message);
            serde::de::Error::custom(format!("is not a schema that can be used: {first}"))
        })
    }
}

impl SchemaProblem {
    /// Text from outside is cut and made safe to show.
    pub fn new(code: Code, path: &str, message: &str) -> SchemaProblem {
        SchemaProblem { code, path: shown(path, PATH_BYTES), message: shown(message, MESSAGE_BYTES) }
    }
}

impl Violation {
    /// Text from outside is cut and made safe to show.
    pub fn new(instance_path: &str, schema_path: &str, message: &str) -> Violation {
        Violation {
            instance_path: shown(instance_path, PATH_BYTES),
            schema_path: shown(schema_path, PATH_BYTES),
            message: shown(message, MESSAGE_BYTES),
        }
    }

    fn unlisted() -> Violation {
        Violation::new("", "", "the value does not fit the schema, and is too large to list why")
    }
}

/// The names that the top level declares, and whether it takes no object: also through `allOf` and references into the document.
fn lint(root: &Value) -> (Vec<String>, bool) {
    let (mut names, mut takes_no_object) = (Vec::new(), false);
    let mut open = vec![root];
    let mut seen = BTreeSet::new();
    while let Some(schema) = open.pop() {
        takes_no_object |= match schema.get("type") {
            Some(Value::Array(types)) => !types.iter().any(|name| name == "object"),
            Some(name) => name != "object",
            None => false,
        };
        let list = |keyword| schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        names.extend(schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned());
        names.extend(list("required").filter_map(Value::as_str).map(str::to_owned));
        open.extend(list("allOf"));
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str).and_then(|uri| uri.strip_prefix('#'))
            && seen.insert(pointer)
        {
            open.extend(root.pointer(pointer));
        }
    }
    (names, takes_no_object)
}

/// Safe to show, and cut.
fn shown(text: &str, bytes: usize) -> String {
    head(&display_text(head(text, bytes)), bytes).to_owned()
}

/// The size of a schema was checked when it was admitted, perhaps with another limit than the default.
const ADMITTED: Limits = Limits { schema_bytes: usize::MAX, ..Limits::DEFAULT };
const MAX_RECENT: usize = 16;
const MAX_VIOLATIONS: usize = 20;
const MESSAGE_BYTES: usize = 200;
const PATH_BYTES: usize = 500;
