//! A validator that JavaScript brings, for the build without the schema engine.
//!
//! It is one function of two texts. Asked with a schema alone, it answers with the JSON text of a list of problems; asked
//! with a schema and an instance, with that of `"valid"`, `"too_much_work"` or a list of violations.

use std::cell::RefCell;
use std::sync::Arc;

use turnlatch::Code;
use turnlatch::json::{Document, Value};
use turnlatch::schema::{Check, SchemaEngine, SchemaProblem, SchemaValidator, use_schema_engine};
use turnlatch::types::Violation;
use wasm_bindgen::prelude::*;

use crate::convert::read_json;

// Two lines in place of a crate: `js-sys` would bring some ten kilobytes of what is not used here.
#[wasm_bindgen]
extern "C" {
    /// A function of JavaScript.
    #[derive(Clone)]
    pub type Validator;

    #[wasm_bindgen(method, catch)]
    fn call(this: &Validator, receiver: &JsValue, schema: &str, instance: Option<&str>) -> Result<JsValue, JsValue>;
}

thread_local! {
    static VALIDATOR: RefCell<Option<Validator>> = const { RefCell::new(None) };
}

/// Brings a validator, or takes it away.
#[wasm_bindgen]
pub fn use_validator(validator: Option<Validator>) {
    let engine = validator.as_ref().map(|_| Arc::new(HostEngine) as Arc<dyn SchemaEngine>);
    VALIDATOR.with(|kept| kept.replace(validator));
    use_schema_engine(engine);
}

/// Asks; none if the validator broke.
fn ask(schema: &str, instance: Option<&str>) -> Option<Value> {
    let validator = VALIDATOR.with(|kept| kept.borrow().clone())?;
    let answer = validator.call(&JsValue::NULL, schema, instance).ok()?.as_string()?;
    read_json(answer.as_bytes()).ok()
}

struct HostEngine;

impl SchemaEngine for HostEngine {
    fn compile(&self, text: &str) -> Result<Box<dyn SchemaValidator>, Vec<SchemaProblem>> {
        let invalid = |message: &str| vec![SchemaProblem::new(Code::SkillManifestInvalid, "", message)];
        match ask(text, None) {
            Some(Value::Array(problems)) if problems.is_empty() => Ok(Box::new(HostValidator(text.to_owned()))),
            Some(Value::Array(problems)) => Err(problems.iter().map(problem).collect()),
            _ => Err(invalid("the host's validator does not take the schema")),
        }
    }
}

struct HostValidator(String);

impl SchemaValidator for HostValidator {
    fn check(&self, instance: &Document<'_>) -> Check {
        match ask(&self.0, Some(instance.text())) {
            Some(Value::String(verdict)) if verdict == "valid" => Check::Valid,
            Some(Value::String(verdict)) if verdict == "too_much_work" => Check::TooMuchWork,
            Some(Value::Array(violations)) => Check::invalid(violations.iter().map(violation)),
            // A validator that breaks has not said that the instance is valid.
            _ => Check::invalid([Violation::new("", "", "the host's validator failed")]),
        }
    }
}

fn problem(row: &Value) -> SchemaProblem {
    let code = Code::from_text(member(row, "code")).unwrap_or(Code::SkillManifestInvalid);
    SchemaProblem::new(code, member(row, "path"), member(row, "message"))
}

fn violation(row: &Value) -> Violation {
    Violation::new(member(row, "instance_path"), member(row, "schema_path"), member(row, "message"))
}

fn member<'r>(row: &'r Value, name: &str) -> &'r str {
    row.get(name).and_then(Value::as_str).unwrap_or_default()
}
