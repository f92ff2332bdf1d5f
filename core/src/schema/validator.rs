//! The schema engine: the `jsonschema` crate, with every setting that decides a verdict spelled out.

use std::io::{Cursor, Write};
use std::sync::Arc;

use jsonschema::json::{Json, SerdeJson};
use jsonschema::{Draft, PatternOptions, Retrieve, Uri, ValidationError, Validator};
use serde_json::{Value, json};

use super::cost::graph::{self, MAX_PROBLEMS, Reading};
use super::cost::model::CostModel;
use super::cost::{limits, pattern};
use super::{Check, Formats, MESSAGE_BYTES, SchemaProblem, Violation};
use crate::json::Document;
#[cfg(feature = "flat-documents")]
use crate::json::Node;
use crate::text::quoted;
use crate::types::codes::Code;

/// How the validator reads a document: the tape itself, or a tree that is made of it where the size of the code counts.
#[cfg(feature = "flat-documents")]
type Form = super::tape::TapeJson;
#[cfg(not(feature = "flat-documents"))]
type Form = SerdeJson;

#[cfg(feature = "flat-documents")]
fn read<T>(document: &Document<'_>, read: impl FnOnce(Node<'_>) -> T) -> T {
    read(document.root())
}

#[cfg(not(feature = "flat-documents"))]
fn read<T>(document: &Document<'_>, read: impl FnOnce(&Value) -> T) -> T {
    read(&document.value())
}

/// A compiled schema, and what is known of it before any instance comes.
pub(super) struct SchemaValidator {
    validator: Validator<Form>,
    pub(super) model: CostModel,
}

impl SchemaValidator {
    /// Compiles a schema that is whole, linear and bounded, or says everything that is against it.
    pub(super) fn compile(
        text: &str,
        schema: &Value,
        formats: Formats,
    ) -> Result<Option<SchemaValidator>, Vec<SchemaProblem>> {
        let draft = schema.get("$schema").and_then(Value::as_str).map_or(Ok(Draft::default()), graph::draft);
        let draft =
            draft.map_err(|message| vec![SchemaProblem::new(Code::SchemaRefForbidden, "/$schema", &message)])?;
        let mut reading = graph::read(schema, draft);
        let order = limits::check(&mut reading);
        refuse_metaschema_violations(&mut reading, schema, draft, text.len());
        refuse_patterns(&mut reading, draft);
        if !reading.problems.is_empty() {
            reading.problems.dedup();
            reading.problems.truncate(MAX_PROBLEMS);
            return Err(reading.problems);
        }
        let validator = options(draft, formats).build(schema);
        let validator = validator.map_err(|error| vec![problem(Code::SkillManifestInvalid, &error)])?;
        let model = CostModel::new(reading.nodes, &reading.patterns, order.as_deref());
        Ok(Some(SchemaValidator { validator, model }))
    }

    /// The work is counted first, so that no pair of schema and instance can run away.
    pub(super) fn check(&self, instance: &Document<'_>) -> Check {
        if !self.model.allows_check(instance) {
            return Check::TooMuchWork;
        }
        if read(instance, |root| self.validator.is_valid(root)) {
            return Check::Valid;
        }
        // The validator makes the whole list before it hands out the first entry, so a long one must not be asked for.
        if !self.model.allows_list(instance.root()) {
            return Check::invalid([]);
        }
        read(instance, |root| Check::invalid(self.validator.iter_errors(root).map(|error| violation(&error))))
    }

    /// How much work a verdict is counted as, if it may be done.
    pub(super) fn counted_work(&self, instance: &Value) -> Option<u64> {
        self.model.counted(Document::read_scanned(&instance.to_string()).ok()?.root())
    }
}

fn violation(error: &ValidationError<'_>) -> Violation {
    Violation::new(error.instance_path().as_str(), error.schema_path().as_str(), &masked(error))
}

/// What the validator says about a schema: there the instance is the schema.
fn problem(code: Code, error: &ValidationError<'_>) -> SchemaProblem {
    SchemaProblem::new(code, error.instance_path().as_str(), &masked(error))
}

/// Refuses loading anything, whatever features other crates in the build have switched on.
struct NothingOutside;

impl Retrieve for NothingOutside {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("nothing outside the document is loaded".into())
    }
}

/// Every setting that decides a verdict, spelled out.
fn options<F: Json>(draft: Draft, formats: Formats) -> jsonschema::ValidationOptions<'static, Arc<dyn Retrieve>, F> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_CACHE_BYTES);
    jsonschema::options_for::<F>()
        .offline()
        .with_retriever(NothingOutside)
        .with_draft(draft)
        .with_pattern_options(patterns)
        .should_validate_formats(formats == Formats::Assert)
        // Trying out whether a text is a pattern is work that no length of the text bounds.
        .with_format("regex", |_: &str| true)
        .should_ignore_unknown_formats(true)
        // Only the oldest drafts check these; the others call them annotations, and so do we.
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
}

fn refuse_metaschema_violations(reading: &mut Reading<'_>, schema: &Value, draft: Draft, text_bytes: usize) {
    if reading.overflow || reading.hostile_enum || schema.is_boolean() {
        return;
    }
    let metaschema = match draft {
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
        reading.problems.extend(errors.map(|error| problem(code(&error), &error)));
    } else if let Err(error) = metaschema.validate(schema) {
        reading.problems.push(problem(code(&error), &error));
    }
}

/// Refuses the patterns that the linear engine does not take, each place where one is used.
fn refuse_patterns(reading: &mut Reading<'_>, draft: Draft) {
    let all: Vec<(u32, &str)> = (0..).zip(reading.patterns.iter().copied()).collect();
    let (too_large, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, text)| pattern::is_too_large(text));
    let size = rest.iter().map(|(_, text)| pattern::size(text)).fold(0, u64::saturating_add);
    if size > MAX_PATTERNS_SIZE {
        let message = "the patterns together are too large";
        reading.problems.push(SchemaProblem::new(Code::SchemaTooComplex, "", message));
        return;
    }
    let refused = too_large.into_iter().take(MAX_REFUSED_PATTERNS).chain(refused_patterns(&rest, draft));
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
    let all: Vec<Value> = patterns.iter().map(|(_, text)| json!({ "pattern": text })).collect();
    if patterns.is_empty() || options::<SerdeJson>(draft, Formats::Annotate).build(&json!({ "allOf": all })).is_ok() {
        return Vec::new();
    }
    if patterns.len() == 1 {
        return patterns.to_vec();
    }
    let (first, second) = patterns.split_at(patterns.len() / 2);
    let mut refused = refused_patterns(first, draft);
    if refused.len() < MAX_REFUSED_PATTERNS {
        refused.extend(refused_patterns(second, draft));
        refused.truncate(MAX_REFUSED_PATTERNS);
    }
    refused
}

/// The message without the instance's values, as far as it will be shown: a schema's `const` can be a megabyte.
fn masked(error: &ValidationError<'_>) -> String {
    // Room for all of a character that is cut off then.
    let mut message = Cursor::new([0; MESSAGE_BYTES + 3]);
    // An error only says that the rest was left out.
    let _ = write!(message, "{}", error.masked());
    let end = usize::try_from(message.position()).unwrap_or_default();
    String::from_utf8_lossy(message.get_ref().get(..end).unwrap_or_default()).into_owned()
}

/// The metaschema's complaints about a longer schema are not listed, only the first is given.
const LISTED_SCHEMA_BYTES: usize = 64 * 1024;
/// What a compiled pattern may take; patterns that are too large are refused before, alike on every platform.
const PATTERN_BYTES: usize = 16 * 1024 * 1024;
const PATTERN_CACHE_BYTES: usize = 1024 * 1024;
/// Positions of all patterns of a schema: what it takes to compile them.
const MAX_PATTERNS_SIZE: u64 = 40_000;
pub(super) const MAX_REFUSED_PATTERNS: usize = 20;
