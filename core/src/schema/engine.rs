//! Who checks an instance against a schema: the engine that is built in, or a validator that the host brings.

use serde_json::Value;

use super::graph::{Dialect, Reading};
use super::{MAX_PROBLEMS, SchemaProblem, Violation};

/// Makes validators of schemas. Only for builds that leave the built-in engine out; every other build decides alike.
pub trait SchemaEngine: Send + Sync {
    /// Compiles a schema, which is JSON text that refers to nothing outside.
    ///
    /// # Errors
    /// Every problem that was found, at least one.
    fn compile(&self, text: &str) -> Result<Box<dyn SchemaValidator>, Vec<SchemaProblem>>;
}

/// Checks instances against one schema.
pub trait SchemaValidator: Send + Sync {
    /// Checks an instance. If it does not fit, the reasons are listed as far as `may_list` allows; there may be none.
    ///
    /// # Errors
    /// The reasons why it does not fit.
    fn check(&self, instance: &Value, may_list: &dyn Fn() -> bool) -> Result<(), Vec<Violation>>;
}

/// Brings a validator, or takes it away. Runs that were loaded before keep what they have.
#[cfg(feature = "host-validator")]
pub fn use_schema_engine(engine: Option<std::sync::Arc<dyn SchemaEngine>>) {
    super::shared::forget();
    *host_engine() = engine;
}

/// The validator of a schema that has been read, or every problem of it.
pub(super) fn compile(
    text: &str,
    schema: &Value,
    dialect: Dialect,
    reading: &mut Reading<'_>,
) -> Result<Option<Box<dyn SchemaValidator>>, Vec<SchemaProblem>> {
    #[cfg(feature = "host-validator")]
    if let Some(engine) = host_engine().clone() {
        // What it says of the schema goes before what the graph says: an engine like ours has said both.
        let validator = engine.compile(text)?;
        return no_problems(reading).map(|()| Some(validator));
    }
    #[cfg(feature = "schema-engine")]
    {
        super::builtin::add_problems(reading, schema, dialect, text.len());
        no_problems(reading)?;
        super::builtin::compile(schema, dialect).map(Some)
    }
    #[cfg(not(feature = "schema-engine"))]
    {
        let _ = (text, schema, dialect);
        no_problems(reading).map(|()| None)
    }
}

fn no_problems(reading: &mut Reading<'_>) -> Result<(), Vec<SchemaProblem>> {
    if reading.problems.is_empty() {
        return Ok(());
    }
    let mut problems = std::mem::take(&mut reading.problems);
    problems.dedup();
    problems.truncate(MAX_PROBLEMS);
    Err(problems)
}

#[cfg(feature = "host-validator")]
fn host_engine() -> std::sync::MutexGuard<'static, Option<std::sync::Arc<dyn SchemaEngine>>> {
    static HOST: std::sync::Mutex<Option<std::sync::Arc<dyn SchemaEngine>>> = std::sync::Mutex::new(None);
    HOST.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
