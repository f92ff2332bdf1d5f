//! Who checks an instance against a schema: the engine that is built in, or a validator that the host brings.

use super::{Check, SchemaProblem};
use crate::json::{Document, Value};

/// Makes validators of schemas. Only for builds that leave the built-in engine out; every other build decides alike.
pub trait SchemaEngine: Send + Sync {
    /// Compiles a schema, which is the JSON text of an object or a boolean.
    ///
    /// # Errors
    /// Every problem that was found, at least one.
    fn compile(&self, text: &str) -> Result<Box<dyn SchemaValidator>, Vec<SchemaProblem>>;
}

/// Checks instances against one schema.
pub trait SchemaValidator: Send + Sync {
    /// Checks an instance, within bounds of its own.
    fn check(&self, instance: &Document<'_>) -> Check;

    /// Whether an instance fits, for those who do not want to know why not.
    fn accepts(&self, instance: &Document<'_>) -> bool {
        self.check(instance) == Check::Valid
    }

    /// How much work a verdict is counted as, if it is counted and may be done.
    #[doc(hidden)]
    fn counted_work(&self, _: &Value) -> Option<u64> {
        None
    }
}

/// Brings a validator, or takes it away. Runs that were loaded before keep what they have.
#[cfg(feature = "host-validator")]
pub fn use_schema_engine(engine: Option<std::sync::Arc<dyn SchemaEngine>>) {
    super::shared::forget();
    *host_engine() = engine;
}

/// The validator of a schema, or every problem of it; none if there is no engine.
pub(super) fn compile(text: &str, schema: &Value) -> Result<Option<Box<dyn SchemaValidator>>, Vec<SchemaProblem>> {
    #[cfg(feature = "host-validator")]
    if let Some(engine) = host_engine().clone() {
        return engine.compile(crate::json::trim(text)).map(Some);
    }
    #[cfg(feature = "schema-engine")]
    return super::builtin::compile(text, schema)
        .map(|validator| Some(Box::new(validator) as Box<dyn SchemaValidator>));
    #[cfg(not(feature = "schema-engine"))]
    {
        let _ = (text, schema);
        Ok(None)
    }
}

#[cfg(feature = "host-validator")]
fn host_engine() -> std::sync::MutexGuard<'static, Option<std::sync::Arc<dyn SchemaEngine>>> {
    static HOST: std::sync::Mutex<Option<std::sync::Arc<dyn SchemaEngine>>> = std::sync::Mutex::new(None);
    HOST.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
