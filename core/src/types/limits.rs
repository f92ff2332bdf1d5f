//! How much of anything the core takes in before it says no (BAD-2).

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Sizes beyond which input is refused or cut; part of the plan, so that a replay decides with the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of the assistant's text of one turn; more counts as no output (`OUTPUT_TOO_LARGE`).
    #[serde(deserialize_with = "size")]
    pub turn_text_bytes: usize,
    /// Levels of nesting in an output; more is unparsable (`OUTPUT_TOO_DEEP`). At most [`Limits::MAX_JSON_DEPTH`].
    #[serde(deserialize_with = "size")]
    pub json_depth: usize,
    /// Bytes of one schema's text.
    #[serde(deserialize_with = "size")]
    pub schema_bytes: usize,
    /// Bytes of the manifest's text.
    #[serde(deserialize_with = "size")]
    pub manifest_bytes: usize,
    /// Bytes of a question's prompt; a longer one is cut.
    #[serde(deserialize_with = "size")]
    pub prompt_bytes: usize,
    /// Options of one question; further ones are dropped.
    #[serde(deserialize_with = "size")]
    pub options: usize,
    /// Bytes of a reply; a larger one is refused and the question stays pending (`REPLY_TOO_LARGE`).
    #[serde(deserialize_with = "size")]
    pub reply_bytes: usize,
    /// Questions in the life of one run; not limited if absent (GATE-11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactions: Option<u64>,
}

impl Limits {
    /// The deepest JSON the core will ever walk: building, validating and freeing a value recurse this far.
    pub const MAX_JSON_DEPTH: usize = 128;

    /// What holds unless the host says otherwise.
    pub const DEFAULT: Limits = Limits {
        turn_text_bytes: 16 * MIB,
        json_depth: Limits::MAX_JSON_DEPTH,
        schema_bytes: MIB,
        manifest_bytes: 256 * KIB,
        prompt_bytes: 16 * KIB,
        options: 64,
        reply_bytes: MIB,
        interactions: None,
    };

    /// The names of the limits that make no sense.
    pub(crate) fn problems(&self) -> Vec<&'static str> {
        let sizes = [
            ("turn_text_bytes", self.turn_text_bytes),
            ("json_depth", self.json_depth),
            ("schema_bytes", self.schema_bytes),
            ("manifest_bytes", self.manifest_bytes),
            ("prompt_bytes", self.prompt_bytes),
            ("reply_bytes", self.reply_bytes),
        ];
        // A run admitted on a large machine must be readable in a browser, where a size has 32 bits. The largest of those stands
        // for all that are larger.
        let fits = |size: usize| u32::try_from(size).is_ok_and(|size| size < u32::MAX);
        let wrong_sizes = sizes.into_iter().filter(|(_, size)| *size == 0 || !fits(*size));
        let others = [
            ("options", !fits(self.options)),
            ("json_depth", self.json_depth > Limits::MAX_JSON_DEPTH),
            ("interactions", self.interactions == Some(0)),
        ];
        let wrong_others = others.into_iter().filter(|(_, is_wrong)| *is_wrong);
        wrong_sizes.map(|(name, _)| name).chain(wrong_others.map(|(name, _)| name)).collect()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// How deep a value that came from outside is nested, found without recursion.
pub(crate) fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, level + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => continue,
        }
        deepest = deepest.max(level);
    }
    deepest
}

/// What this machine cannot hold is out of range on every other one, too, and is refused there.
fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    u64::deserialize(deserializer).map(|size| usize::try_from(size).unwrap_or(usize::MAX))
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

#[cfg(test)]
mod tests;
