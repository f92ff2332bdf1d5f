//! What stands for the validator in a build without the schema engine: there is none, so nothing is checked.

use super::{Check, Formats, SchemaProblem};
use crate::json::{Document, Value};

pub(super) enum SchemaValidator {}

impl SchemaValidator {
    #[expect(clippy::unnecessary_wraps, reason = "the other build refuses schemas here")]
    pub(super) fn compile(_: &str, _: &Value, _: Formats) -> Result<Option<SchemaValidator>, Vec<SchemaProblem>> {
        Ok(None)
    }

    pub(super) fn check(&self, _: &Document<'_>) -> Check {
        match *self {}
    }

    pub(super) fn counted_work(&self, _: &Value) -> Option<u64> {
        match *self {}
    }
}
