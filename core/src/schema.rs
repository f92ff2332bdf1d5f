//! Schemas from untrusted packages: admitted only if they are whole, linear and bounded (BAD-3). The only file, with its
//! parts, that knows the validator.

mod graph;
mod guard;
mod pattern;
mod shared;
mod work;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Retrieve, Uri, ValidationError, Validator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use self::graph::{DIALECTS, Dialect, Reading};
use self::work::Plan;
use crate::codes::Code;
use crate::json;
use crate::limits::Limits;
use crate::text::{display_text, head, quoted};

/// A compiled schema; cheap to clone.
#[derive(Clone)]
pub struct OutputSchema {
    compiled: Arc<Compiled>,
}

struct Compiled {
    text: String,
    validator: Validator,
    plan: Plan,
    declared: BTreeSet<String>,
}

/// One reason why a text is not a schema that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// One way in which an instance does not fit its schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// Where in the instance, as a JSON pointer; empty for the whole.
    pub instance_path: String,
    /// The keyword that was not met, as a JSON pointer into the schema.
    pub schema_path: String,
    /// What the schema asks for; values of the instance are not repeated.
    pub message: String,
}

impl OutputSchema {
    /// Compiles a schema from its JSON text; a text without `$schema` follows draft 2020-12.
    ///
    /// # Errors
    /// All problems that were found, at least one: the text is too large or no valid schema, it refers to something
    /// outside, has a pattern that cannot be matched in linear time, or could take unbounded work.
    pub fn compile(text: &str, limits: &Limits) -> Result<OutputSchema, Vec<SchemaProblem>> {
        if text.len() > limits.schema_bytes {
            let message = format!("the schema has {} bytes, more than {}", text.len(), limits.schema_bytes);
            return Err(vec![SchemaProblem::new(Code::SchemaTooLarge, "", &message)]);
        }
        if let Some(compiled) = shared::find(text, limits.json_depth) {
            return Ok(OutputSchema { compiled });
        }
        let schema = parse_schema_text(text, limits.json_depth).map_err(|problem| vec![problem])?;
        let dialect = dialect_of(&schema).map_err(|problem| vec![problem])?;
        let mut reading = graph::read(&schema, dialect);
        let order = guard::examine(&mut reading);
        refuse_metaschema_violations(&mut reading, &schema, dialect, text.len());
        refuse_patterns(&mut reading, dialect);
        if !reading.problems.is_empty() {
            reading.problems.dedup();
            reading.problems.truncate(MAX_PROBLEMS);
            return Err(reading.problems);
        }
        let validator = options(dialect.draft)
            .build(&schema)
            .map_err(|error| vec![SchemaProblem::of(Code::SkillManifestInvalid, &error)])?;
        let pattern_weights = reading.patterns.iter().map(|text| pattern::weight(text)).collect();
        let bytes = |text: &&str| u64::try_from(text.len()).unwrap_or(u64::MAX);
        let pattern_bytes = reading.patterns.iter().map(bytes).collect();
        let mut plan = Plan { nodes: reading.nodes, pattern_weights, pattern_bytes, weight: None };
        plan.weight = order.and_then(|order| work::unfolded_weight(&plan, &order));
        let declared = declared_names(&schema);
        let compiled = Arc::new(Compiled { text: text.to_owned(), validator, plan, declared });
        shared::remember(limits.json_depth, &compiled);
        Ok(OutputSchema { compiled })
    }

    /// The source text, as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.compiled.text
    }

    /// Checks an instance; the work is counted first, so that no pair of schema and instance can run away.
    #[must_use]
    pub fn check(&self, instance: &Value) -> Check {
        let Compiled { validator, plan, .. } = self.compiled.as_ref();
        if !plan.allows_check(instance) {
            return Check::TooMuchWork;
        }
        if validator.is_valid(instance) {
            return Check::Valid;
        }
        // The validator makes the whole list before it hands out the first entry, so a long one must not be asked for.
        if !plan.allows_list(instance) {
            return Check::Invalid(vec![Violation::unlisted()]);
        }
        let mut violations = Vec::new();
        for violation in validator.iter_errors(instance).map(|error| Violation::of(&error)) {
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

    /// Whether the top level names this property, in `properties` or `required`.
    pub(crate) fn declares(&self, property: &str) -> bool {
        self.compiled.declared.contains(property)
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("OutputSchema").field(&self.text()).finish()
    }
}

impl PartialEq for OutputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for OutputSchema {}

/// In a snapshot a schema is its text.
impl Serialize for OutputSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl<'de> Deserialize<'de> for OutputSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // Its size was checked when it was admitted, perhaps with another limit than the default.
        let limits = Limits { schema_bytes: usize::MAX, ..Limits::default() };
        OutputSchema::compile(&text, &limits).map_err(|problems| {
            let first = problems.first().map_or("", |problem| &problem.message);
            D::Error::custom(format!("the schema is not valid: {first}"))
        })
    }
}

impl SchemaProblem {
    fn new(code: Code, path: &str, message: &str) -> SchemaProblem {
        SchemaProblem { code, path: shown(path, PATH_BYTES), message: shown(message, MESSAGE_BYTES) }
    }

    /// What the validator says about a schema: there the instance is the schema.
    fn of(code: Code, error: &ValidationError<'_>) -> SchemaProblem {
        SchemaProblem::new(code, error.instance_path().as_str(), &masked(error))
    }
}

impl Violation {
    fn of(error: &ValidationError<'_>) -> Violation {
        Violation {
            instance_path: shown(error.instance_path().as_str(), PATH_BYTES),
            schema_path: shown(error.schema_path().as_str(), PATH_BYTES),
            message: shown(&masked(error), MESSAGE_BYTES),
        }
    }

    fn unlisted() -> Violation {
        let message = "the value does not fit the schema, and is too large to list why".to_owned();
        Violation { instance_path: String::new(), schema_path: String::new(), message }
    }
}

/// Refuses loading anything, whatever features other crates in the build have switched on.
struct NothingOutside;

impl Retrieve for NothingOutside {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("nothing outside the document is loaded".into())
    }
}

/// Every setting that decides a verdict, spelled out.
fn options(draft: Draft) -> jsonschema::ValidationOptions<'static> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_CACHE_BYTES);
    jsonschema::options()
        .offline()
        .with_retriever(NothingOutside)
        .with_draft(draft)
        .with_pattern_options(patterns)
        .should_validate_formats(false)
        .should_ignore_unknown_formats(true)
        // Only the oldest drafts check these; the others call them annotations, and so do we.
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
}

/// Strict JSON: each key once, and no deeper than `depth`.
fn parse_schema_text(text: &str, depth: usize) -> Result<Value, SchemaProblem> {
    json::parse_value(text, depth).map_err(|fault| {
        SchemaProblem::new(Code::SkillManifestInvalid, "", &format!("the schema cannot be read: {fault}"))
    })
}

fn dialect_of(schema: &Value) -> Result<Dialect, SchemaProblem> {
    let [newest, ..] = DIALECTS;
    match schema.get("$schema") {
        Some(Value::String(uri)) => graph::dialect(uri).ok_or_else(|| {
            let message = format!("the dialect {} is not one of the known drafts", quoted(uri));
            SchemaProblem::new(Code::SchemaRefForbidden, "/$schema", &message)
        }),
        _ if matches!(schema, Value::Object(_) | Value::Bool(_)) => Ok(newest),
        _ => {
            let message = "a schema must be an object or a boolean";
            Err(SchemaProblem::new(Code::SkillManifestInvalid, "", message))
        }
    }
}

fn refuse_metaschema_violations(reading: &mut Reading<'_>, schema: &Value, dialect: Dialect, text_bytes: usize) {
    if reading.overflow || reading.hostile_enum || schema.is_boolean() {
        return;
    }
    let metaschema = match dialect.draft {
        Draft::Draft4 => jsonschema::draft4::meta::validator(),
        Draft::Draft6 => jsonschema::draft6::meta::validator(),
        Draft::Draft7 => jsonschema::draft7::meta::validator(),
        Draft::Draft201909 => jsonschema::draft201909::meta::validator(),
        _ => jsonschema::draft202012::meta::validator(),
    };
    let code = |error: &ValidationError<'_>| {
        // Older metaschemas look at patterns themselves, more strictly than the engine.
        let is_pattern = error.schema_path().as_str().ends_with("/format");
        if is_pattern { Code::SchemaPatternUnsupported } else { Code::SkillManifestInvalid }
    };
    if text_bytes <= LISTED_SCHEMA_BYTES {
        let errors = metaschema.iter_errors(schema).take(MAX_PROBLEMS);
        reading.problems.extend(errors.map(|error| SchemaProblem::of(code(&error), &error)));
    } else if let Err(error) = metaschema.validate(schema) {
        reading.problems.push(SchemaProblem::of(code(&error), &error));
    }
}

/// Refuses the patterns that the linear engine does not take, each place where one is used.
fn refuse_patterns(reading: &mut Reading<'_>, dialect: Dialect) {
    let all: Vec<(u32, &str)> = (0..).zip(reading.patterns.iter().copied()).collect();
    let (too_large, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, text)| pattern::is_too_large(text));
    let size = rest.iter().map(|(_, text)| pattern::size(text)).fold(0, u64::saturating_add);
    if size > MAX_PATTERNS_SIZE {
        let message = "the patterns together are too large";
        reading.problems.push(SchemaProblem::new(Code::SchemaTooComplex, "", message));
        return;
    }
    let refused = too_large.into_iter().take(MAX_REFUSED_PATTERNS).chain(refused_patterns(&rest, dialect.draft));
    for (pattern, text) in refused.collect::<Vec<_>>() {
        let message = format!(
            "the pattern {} cannot be used: it is not valid, needs look-around or back-references, or is too large",
            quoted(text)
        );
        let paths = reading.pattern_paths(pattern);
        let problems = paths.iter().map(|path| SchemaProblem::new(Code::SchemaPatternUnsupported, path, &message));
        reading.problems.extend(problems);
    }
}

/// The patterns that do not compile, up to a number; halves of the list that compile are passed over.
fn refused_patterns<'v>(patterns: &[(u32, &'v str)], draft: Draft) -> Vec<(u32, &'v str)> {
    let options = options(draft);
    let mut refused = Vec::new();
    let mut suspects = vec![patterns];
    while let Some(some) = suspects.pop() {
        let all: Vec<Value> = some.iter().map(|(_, text)| serde_json::json!({ "pattern": text })).collect();
        if some.is_empty() || options.build(&serde_json::json!({ "allOf": all })).is_ok() {
            continue;
        }
        if let [one] = some {
            refused.push(*one);
        } else {
            let (first, second) = some.split_at(some.len() / 2);
            suspects.extend([second, first]);
        }
        if refused.len() >= MAX_REFUSED_PATTERNS {
            break;
        }
    }
    refused
}

/// The names that the top level declares, also through `allOf` and references into the document.
fn declared_names(root: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![root];
    let mut seen = BTreeSet::new();
    while let Some(schema) = open.pop() {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        names.extend(properties.map(|(name, _)| name.clone()));
        names.extend(required.filter_map(Value::as_str).map(str::to_owned));
        open.extend(schema.get("allOf").and_then(Value::as_array).into_iter().flatten());
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str).and_then(|uri| uri.strip_prefix('#'))
            && seen.insert(pointer)
        {
            open.extend(root.pointer(pointer));
        }
    }
    names
}

/// The message without the instance's values, as far as it will be shown: a schema's `const` can be a megabyte.
fn masked(error: &ValidationError<'_>) -> String {
    let mut message = Clipped { text: String::new() };
    // An error only says that the rest was left out.
    let _ = write!(message, "{}", error.masked());
    message.text
}

struct Clipped {
    text: String,
}

impl Write for Clipped {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        self.text.push_str(head(more, MESSAGE_BYTES));
        if self.text.len() < MESSAGE_BYTES { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Safe to show, and cut.
fn shown(text: &str, bytes: usize) -> String {
    head(&display_text(head(text, bytes)), bytes).to_owned()
}

const MAX_PROBLEMS: usize = 50;
const MAX_VIOLATIONS: usize = 20;
const MESSAGE_BYTES: usize = 200;
const PATH_BYTES: usize = 500;
/// The metaschema's complaints about a longer schema are not listed, only the first is given.
const LISTED_SCHEMA_BYTES: usize = 64 * 1024;
/// What a compiled pattern may take; patterns that are too large are refused before, alike on every platform.
const PATTERN_BYTES: usize = 16 * 1024 * 1024;
const PATTERN_CACHE_BYTES: usize = 1024 * 1024;
/// Positions of all patterns of a schema: what it takes to compile them.
const MAX_PATTERNS_SIZE: u64 = 40_000;
const MAX_REFUSED_PATTERNS: usize = 20;
