//! Who says whether an instance fits, and who says why not.

use jsonschema::json::SerdeJson;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::options;
use crate::json::Document;
use crate::schema::graph::Draft;

/// A tree is read for both.
#[cfg(not(feature = "flat-documents"))]
pub(super) struct Judge {
    validator: Validator,
}

#[cfg(not(feature = "flat-documents"))]
impl Judge {
    pub(super) fn compile(_: &str, schema: &Value, draft: Draft) -> Result<Judge, ValidationError<'static>> {
        Ok(Judge { validator: options::<SerdeJson>(draft).build(schema)? })
    }

    pub(super) fn is_valid(&self, instance: &Document<'_>) -> bool {
        self.validator.is_valid(instance.root())
    }

    pub(super) fn lister(&self) -> Option<&Validator> {
        Some(&self.validator)
    }
}

/// Verdicts are given on flat documents. Reasons are listed from a tree, whose parts they can point to, by a validator
/// that is compiled when there is the first to list.
#[cfg(feature = "flat-documents")]
pub(super) struct Judge {
    validator: Validator<crate::schema::flat::Flat>,
    lister: std::sync::OnceLock<Option<Validator>>,
    text: Box<str>,
    draft: Draft,
}

#[cfg(feature = "flat-documents")]
impl Judge {
    pub(super) fn compile(text: &str, schema: &Value, draft: Draft) -> Result<Judge, ValidationError<'static>> {
        let validator = options(draft).build(schema)?;
        Ok(Judge { validator, lister: std::sync::OnceLock::new(), text: crate::json::trim(text).into(), draft })
    }

    pub(super) fn is_valid(&self, instance: &Document<'_>) -> bool {
        self.validator.is_valid(instance.root())
    }

    pub(super) fn lister(&self) -> Option<&Validator> {
        let compile = || options::<SerdeJson>(self.draft).build(&crate::json::build(&self.text).ok()?).ok();
        self.lister.get_or_init(compile).as_ref()
    }
}
